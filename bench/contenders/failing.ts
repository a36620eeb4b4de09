// Providers that fail: one process-local server whose paths answer 500 at once, or begin a stream
// and cut it before its first delta; and an address where nothing listens.
import { createServer, type Server } from 'node:http';
import { freePort } from '../child.ts';

export interface FailingProvider {
  name: string;
  /** With the version prefix. */
  baseUrl: string;
}

export interface FailingProviders {
  all: FailingProvider[];
  stop(): Promise<void>;
}

const errorBody = JSON.stringify({
  error: { message: 'The server had an error.', type: 'server_error', param: null, code: null },
});
const roleChunk = JSON.stringify({
  id: 'chatcmpl-cut',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'cut',
  choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
});

/** Starts them on the loopback. */
export async function startFailing(): Promise<FailingProviders> {
  const server: Server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      if (request.url?.startsWith('/error/') === true) {
        response.writeHead(500, { 'content-type': 'application/json' }).end(errorBody);
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${roleChunk}\n\n`, () => response.destroy());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const closedPort = await freePort();
  return {
    all: [
      { name: 'error', baseUrl: `http://127.0.0.1:${port}/error/v1` },
      { name: 'refused', baseUrl: `http://127.0.0.1:${closedPort}/v1` },
      { name: 'cut', baseUrl: `http://127.0.0.1:${port}/cut/v1` },
    ],
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
