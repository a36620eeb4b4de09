// A server with a route for files, whose bytes tell where they stand. Its reader does what a test
// tells it to, and its clients check what they get.
import { strict as assert } from 'node:assert';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { get as getSecurely } from 'node:https';
import type { FileContent } from '../../../../runtime/http/route.ts';
import { type Serving, serve, testRoute } from '../serving.ts';

export const mib = 1024 * 1024;
const pieceBytes = 64 * 1024;
/** A prime: no piece, and no power of two of them, looks like the one before. */
const period = 65_521;
const pattern = Buffer.alloc(period * 2, 0).map((_, index) => ((index % period) * 167 + 11) % 251);

/** What stands in the file there. */
export function bytesAt(from: number, to: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = from; at < to; ) {
    const begin = at % period;
    const part = pattern.subarray(begin, Math.min(begin + period, begin + to - at));
    parts.push(part as Buffer);
    at += part.length;
  }
  return Buffer.concat(parts);
}

/** Fails if these bytes are not those of the file there. */
export function assertBytes(bytes: Buffer, from: number): void {
  for (let done = 0; done < bytes.length; ) {
    const begin = (from + done) % period;
    const length = Math.min(bytes.length - done, period);
    const isSame = bytes.compare(pattern, begin, begin + length, done, done + length) === 0;
    assert.ok(isSame, `other bytes at ${from + done}`);
    done += length;
  }
}

/** What a reader did, over all requests of a server. */
export interface Readers {
  opened: number;
  /** Left for any reason: read to the end, failed, or given up. */
  closed: number;
  pieces: number;
  ranges: [from: number, to: number][];
}

export type ReadPieces = (
  from: number,
  to: number,
  pieces: () => AsyncIterable<Uint8Array>,
) => AsyncIterable<Uint8Array>;

export interface FileServing extends Serving {
  readers: Readers;
  /** The file; a test changes it. */
  file: FileContent;
  /** Stands between the reader and the kernel. */
  read: ReadPieces;
}

export const lastModifiedMs = Date.UTC(2026, 10, 6, 8, 49, 37) + 250;
export const lastModified = 'Fri, 06 Nov 2026 08:49:37 GMT';
export const etag = 'a3'.repeat(32);

export async function serveFiles(options: Parameters<typeof serve>[1] = {}): Promise<FileServing> {
  const readers: Readers = { opened: 0, closed: 0, pieces: 0, ranges: [] };
  async function* pieces(from: number, to: number) {
    readers.opened += 1;
    readers.ranges.push([from, to]);
    try {
      for (let at = from; at < to; at += pieceBytes) {
        // Behind what has arrived, as a disk would be.
        await new Promise((resolve) => setImmediate(resolve));
        readers.pieces += 1;
        yield bytesAt(at, Math.min(at + pieceBytes, to));
      }
    } finally {
      readers.closed += 1;
    }
  }
  const told: Pick<FileServing, 'readers' | 'file' | 'read'> = {
    readers,
    read: (_from, _to, all) => all(),
    file: {
      bytes: 20 * mib,
      etag,
      lastModifiedMs,
      mediaType: 'video/mp4',
      filename: 'vid_1.mp4',
      read: (from, to) => told.read(from, to, () => pieces(from, to)),
    },
  };
  const route = testRoute({
    path: '/v1/file',
    aliases: ['/v1/later'],
    replies: { 200: { description: 'The file.', mediaType: 'video/mp4', isFile: true } },
    handle({ exchange }) {
      exchange.setHeader('x-svc-test', 'yes');
      const reply = { status: 200, file: { ...told.file } } as const;
      return exchange.path === '/v1/later' ? Promise.resolve(reply) : reply;
    },
  });
  const plain = testRoute({ path: '/v1/plain', handle: () => ({ status: 200, json: {} }) });
  const serving = await serve([route, plain], options);
  return Object.assign(told, serving);
}

export interface Received {
  reply: IncomingMessage;
  request: ClientRequest;
}

/** A client of a connection of its own, at the head of the reply: nothing of the body is read. */
export function open(
  port: number,
  headers: Record<string, string> = {},
  ca: Buffer | null = null,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: '/v1/file', agent: false, headers };
    const opened = (reply: IncomingMessage) => {
      reply.pause();
      resolve({ reply, request });
    };
    const request =
      ca === null
        ? get(options, opened)
        : getSecurely({ ...options, host: 'localhost', ca }, opened);
    request.on('error', reject);
  });
}

/** Reads on and checks every byte: how many came, and whether the reply was whole. */
export async function drain(
  { reply }: Received,
  from: number,
  pace: (receivedBytes: number) => Promise<void> | null = () => null,
): Promise<{ bytes: number; isWhole: boolean }> {
  let bytes = 0;
  try {
    for await (const chunk of reply) {
      assertBytes(chunk, from + bytes);
      bytes += (chunk as Buffer).length;
      await pace(bytes);
    }
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ECONNRESET');
  }
  return { bytes, isWhole: reply.complete };
}
