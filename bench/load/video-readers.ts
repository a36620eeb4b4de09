// Readers of a file at a steady pace, each on a socket of its own that is paused while it is ahead.
// What the kernel holds for them is full before anything is measured.
import { connect, type Socket } from 'node:net';
import { answerParent } from './asked.ts';

export interface ReadersTarget {
  port: number;
  path: string;
  headers: Record<string, string>;
}

export type ReadersJob =
  | { kind: 'open'; target: ReadersTarget; readers: number; bytesPerSecond: number; from: number }
  | { kind: 'measure'; durationMs: number }
  | { kind: 'close' };

export interface Readings {
  bytes: number;
  /** What the reader got that got least. */
  bytesLeast: number;
}

interface Reader {
  socket: Socket;
  bytes: number;
  credit: number;
  isPaused: boolean;
}

const TICK_MS = 20;
const buffer = Buffer.allocUnsafe(65_536);
const readers: Reader[] = [];
let failure = '';
let paceTimer: NodeJS.Timeout | undefined;

function openOne({ target, from }: Extract<ReadersJob, { kind: 'open' }>): Promise<void> {
  return new Promise((resolve, reject) => {
    let begun = false;
    const onread = (length: number, bytes: Uint8Array): boolean => {
      if (!begun) {
        begun = true;
        const head = Buffer.from(bytes.buffer, bytes.byteOffset, 12).toString('latin1');
        if (head === 'HTTP/1.1 206') resolve();
        else reject(new Error(Buffer.from(bytes.subarray(0, length)).toString('latin1')));
      }
      reader.bytes += length;
      reader.credit -= length;
      if (reader.credit > 0) return true;
      reader.isPaused = true;
      return false;
    };
    const socket = connect({
      host: '127.0.0.1',
      port: target.port,
      onread: { buffer, callback: onread },
    });
    const reader: Reader = { socket, bytes: 0, credit: 16_384, isPaused: false };
    readers.push(reader);
    socket.once('error', (error) => {
      failure ||= error.message;
      reject(error);
    });
    socket.once('close', () => {
      failure ||= 'closed by the server';
    });
    const headers = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(
      `GET ${target.path} HTTP/1.1\r\nhost: 127.0.0.1:${target.port}\r\n` +
        `range: bytes=${from}-\r\n${headers.join('')}\r\n`,
    );
  });
}

function pace(bytesPerSecond: number): void {
  let lastMs = performance.now();
  paceTimer = setInterval(() => {
    const nowMs = performance.now();
    const earned = (bytesPerSecond * (nowMs - lastMs)) / 1_000;
    lastMs = nowMs;
    for (const reader of readers) {
      // Nobody catches up with more than half a second.
      reader.credit = Math.min(reader.credit + earned, bytesPerSecond / 2);
      if (!reader.isPaused || reader.credit <= 0) continue;
      reader.isPaused = false;
      reader.socket.resume();
    }
  }, TICK_MS);
}

function close(): void {
  clearInterval(paceTimer);
  for (const { socket } of readers.splice(0)) socket.removeAllListeners('close').destroy();
}

answerParent<ReadersJob>(async (job) => {
  switch (job.kind) {
    case 'open': {
      failure = '';
      pace(job.bytesPerSecond);
      await Promise.all(Array.from({ length: job.readers }, () => openOne(job)));
      return null;
    }
    case 'measure': {
      const before = readers.map(({ bytes }) => bytes);
      await new Promise((resolve) => setTimeout(resolve, job.durationMs));
      if (failure !== '') throw new Error(failure);
      const taken = readers.map(({ bytes }, index) => bytes - (before[index] ?? 0));
      const bytes = taken.reduce((sum, each) => sum + each, 0);
      return { bytes, bytesLeast: Math.min(...taken) } satisfies Readings;
    }
    case 'close':
      close();
      return null;
  }
});
