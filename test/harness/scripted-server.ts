// An HTTP server in place of a provider, which answers each request as the test has told it to.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a scripted provider is to its test, whatever it speaks. */
export interface ScriptedServer<B> {
  /** With the version prefix. */
  url: string;
  behaviour: B;
  /** For the next requests, before `behaviour`. */
  first: B[];
  close(): void;
}

type Respond<B> = (
  behaviour: B,
  exchange: { request: IncomingMessage; body: Buffer; response: ServerResponse },
) => void;

/** Calls `respond` with each whole POST; what is asked otherwise is not there. */
export async function startScriptedServer<B>(
  behaviour: B,
  respond: Respond<B>,
): Promise<ScriptedServer<B>> {
  const server = createServer((request, response) => {
    // Health probes ask for the model: they are no calls.
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      respond(scripted.first.shift() ?? scripted.behaviour, { request, body, response });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const scripted: ScriptedServer<B> = {
    url: `http://127.0.0.1:${port}/v1`,
    behaviour,
    first: [],
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return scripted;
}
