// The far side of the guard: servers of bare sockets on loopback, a resolver that a test scripts,
// and a log that is kept.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import pino from 'pino';
import type { OutboundReply, OutboundUse } from '../../../runtime/outbound/contract.ts';
import { createOutbound, type OutboundOptions } from '../../../runtime/outbound/outbound.ts';

export const MIB = 1_048_576;

/** Narrow, so that a test of a deadline is short. */
export const quickUse = {
  name: 'test',
  bytesMax: MIB,
  totalMs: 3_000,
  deadlines: { namesMs: 300, connectMs: 300, headersMs: 300, idleMs: 300 },
} as const satisfies OutboundUse;

export interface FarSide {
  server: Server;
  port: number;
  url: string;
  /** How many connections came. */
  readonly connections: number;
  /** The head of each request, without its body. */
  requests: string[];
  close(): void;
}

type Answer = (socket: Socket, head: string, request: number) => void;

/** A server that answers each whole head of a request as it is told; a text is that answer. */
export async function farSide(answer: Answer | string, host = '127.0.0.1'): Promise<FarSide> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const respond: Answer =
    typeof answer === 'string' ? (socket) => void socket.end(answer, 'latin1') : answer;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      const isNew = !text.includes('\r\n\r\n');
      text += bytes.toString('latin1');
      if (!isNew || !text.includes('\r\n\r\n')) return;
      requests.push(text);
      respond(socket, text, requests.length);
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  const { port } = address;
  return {
    server,
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    get connections() {
      return connections;
    },
    requests,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

export const response = (body: string, ...headers: string[]) =>
  [
    'HTTP/1.1 200 OK',
    'Content-Type: Text/Plain; charset=utf-8',
    `Content-Length: ${body.length}`,
    ...headers,
    '',
    body,
  ].join('\r\n');

export const redirect = (location: string, status = 302) =>
  [`HTTP/1.1 ${status} Elsewhere`, `Location: ${location}`, 'Content-Length: 0', '', ''].join(
    '\r\n',
  );

/** Addresses by name; a function is asked anew each time. */
export type Names = Record<string, readonly string[] | (() => readonly string[])>;

/** A guard over these names, what was asked of its resolver, and what it logged. */
export function guardOver(names: Names, options: Partial<OutboundOptions> = {}) {
  const asked: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const sink = new PassThrough();
  sink.on('data', (line) => lines.push(JSON.parse(String(line)) as Record<string, unknown>));
  const outbound = createOutbound({
    exceptions: [],
    own: [],
    log: pino({ level: 'debug' }, sink),
    resolve: async (name, scope) => {
      asked.push(`${scope} ${name}`);
      const found = names[name];
      if (found === undefined) throw new Error('no such name');
      return [...(typeof found === 'function' ? found() : found)];
    },
    ...options,
  });
  const fetch = (url: string, use: OutboundUse = quickUse, call = {}) =>
    outbound.fetch(url, use, { signal: new AbortController().signal, ...call });
  return { outbound, fetch, asked, lines };
}

export function reasonOf(reply: OutboundReply): string {
  if (!reply.ok) return reply.reason;
  reply.close();
  return `status ${reply.status}`;
}
