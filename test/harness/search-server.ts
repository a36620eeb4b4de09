// A server of a search provider's format that answers as its test has told it to, and keeps what it
// was asked.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SearchBehaviour {
  /** Default: 200. */
  status?: number;
  /** The body; else results of the surface. */
  text?: string;
  /** How many there are: none if it is not said. */
  results?: number;
  /** Where they are. */
  host?: string;
}

export interface SearchServer {
  url: string;
  behaviour: SearchBehaviour;
  asked: { path: string; body: string }[];
  close(): void;
}

export async function startSearchServer(): Promise<SearchServer> {
  const asked: SearchServer['asked'] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const path = request.url ?? '';
      asked.push({ path, body: Buffer.concat(parts).toString() });
      const { status = 200, text = resultsAt(path, started.behaviour) } = started.behaviour;
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const started: SearchServer = {
    url: `http://127.0.0.1:${port}`,
    behaviour: {},
    asked,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return started;
}

function resultsAt(path: string, { results = 0, host = 'example.org' }: SearchBehaviour): string {
  const name = path.slice(1);
  const list = Array.from({ length: results }, (_, index) => ({
    title: `Result ${index + 1}`,
    link: `https://${host}/${index + 1}`,
    imageUrl: `https://${host}/${index + 1}.png`,
    snippet: 'What it is about.',
    position: index + 1,
  }));
  return JSON.stringify({ [name === 'search' ? 'organic' : name]: list });
}
