// Stands between a client and a server and keeps what passes: every request with its body, and the
// status that it got. Without a server behind it nothing is found, which tells what is asked for.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Passed {
  method: string;
  path: string;
  body: string;
  /** 0: no answer came. */
  status: number;
}

export interface Tap {
  url: string;
  /** In the order in which the requests came. */
  passed: Passed[];
  close(): void;
}

const notFound = JSON.stringify({
  type: 'error',
  error: { type: 'not_found_error', message: 'There is no such model.', code: 'model_not_found' },
});

/** `target`: an origin; null: there is no server. */
export async function openTap(target: string | null): Promise<Tap> {
  const passed: Passed[] = [];
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const body = Buffer.concat(parts);
      const { method = '', url: path = '' } = incoming;
      const one: Passed = { method, path, body: body.toString(), status: 0 };
      passed.push(one);
      if (target !== null) forward(target, incoming, { one, body, response });
      else {
        one.status = 404;
        response.writeHead(404, { 'content-type': 'application/json' }).end(notFound);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, passed, close };
}

interface Passing {
  one: Passed;
  body: Buffer;
  response: ServerResponse;
}

/** Each piece goes on as it comes: agents read streams. */
function forward(target: string, incoming: IncomingMessage, passing: Passing): void {
  const { one, body, response } = passing;
  const { host, hostname, port } = new URL(target);
  const headers = { ...incoming.headers, host };
  const onward = request({ hostname, port, method: one.method, path: one.path, headers });
  onward.on('response', (answer) => {
    one.status = answer.statusCode ?? 0;
    response.writeHead(one.status, answer.headers);
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  onward.end(body);
}
