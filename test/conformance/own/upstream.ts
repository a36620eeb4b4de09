// A provider that answers with the fixture that is named in the request, streamed as its vendor
// would stream it, over a real socket.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixtures } from './fixtures.ts';
import type { Fixture, Unnumbered } from './pieces.ts';

export interface OwnUpstream {
  url: string;
  /** The body of the last call. */
  lastBody(): Record<string, unknown>;
  close(): Promise<void>;
}

export async function startOwnUpstream(): Promise<OwnUpstream> {
  let last = '{}';
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      // Whoever only looks whether it is there sends nothing.
      if (pieces.length === 0) {
        response.writeHead(404).end();
        return;
      }
      last = Buffer.concat(pieces).toString();
      const named = fixtures.filter(({ name }) => last.includes(JSON.stringify(name).slice(1, -1)));
      const wanted = named.at(-1);
      response.writeHead(wanted === undefined ? 404 : 200, { 'content-type': 'text/event-stream' });
      response.end(wanted === undefined ? '' : streamOf(wanted));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    lastBody: () => JSON.parse(last) as Record<string, unknown>,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

const head = { id: 'resp_upstream', object: 'response', created_at: 1, model: 'own-upstream' };
const usage = {
  input_tokens: 7,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 16,
};

/** The whole body of one answer. */
export function streamOf({ output, events }: Pick<Fixture, 'output' | 'events'>): string {
  const begun = { ...head, status: 'in_progress', output: [], usage: null };
  const done = { ...head, status: 'completed', output, usage };
  const all: (Unnumbered | Record<string, unknown>)[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...events,
    { type: 'response.completed', response: done },
  ];
  return all
    .map((event, index) => {
      const { type, ...members } = event;
      const data = JSON.stringify({ type, sequence_number: index, ...members });
      return `event: ${String(type)}\ndata: ${data}\n\n`;
    })
    .join('');
}
