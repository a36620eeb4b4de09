// What streams give uWebSockets.js at a time, over a socket that is full whenever that can hurt.
import type { HttpResponse } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { HttpByteStream } from '../../../runtime/http/bytes.ts';
import { createStreamTable, HttpEventStream } from '../../../runtime/http/stream.ts';
import { createTicker } from '../../../runtime/http/ticker.ts';

const heldBytesMax = 16 * 1_024;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * As our binaries do it: what is written in a cork is held back, 16 KiB of it. Of a write that is
 * longer everything is lost when what is held back does not leave, as here always.
 */
class FullSocket {
  sent = '';
  lost = 0;
  corks = 0;
  isTaking = true;
  #held: number | null = null;
  #onWritable = () => true;

  get response(): HttpResponse {
    return this as unknown as HttpResponse;
  }

  cork(work: () => void): void {
    const isOuter = this.#held === null;
    if (isOuter) {
      this.#held = 0;
      this.corks += 1;
    }
    work();
    if (isOuter) this.#held = null;
  }

  write(data: string | Uint8Array): boolean {
    const bytes = Buffer.from(data);
    this.#hold(`\r\n${bytes.length.toString(16)}\r\n`.length);
    if (this.#hold(bytes.length)) this.sent += bytes.toString('latin1');
    return this.isTaking;
  }

  end(data: string | Uint8Array = ''): void {
    if (data.length > 0) this.write(data);
    this.#hold('\r\n0\r\n\r\n'.length);
    this.sent += '[end]';
  }

  onWritable(listener: () => boolean): void {
    this.#onWritable = listener;
  }

  drain(): void {
    this.isTaking = true;
    this.#onWritable();
  }

  #hold(length: number): boolean {
    if (this.#held === null) return true;
    this.#held += length;
    if (this.#held <= heldBytesMax) return true;
    this.#held = null;
    this.lost += 1;
    return false;
  }
}

function openStream(socket: FullSocket, first = 'data: first\n\n'): HttpEventStream {
  const ticker = createTicker(1_000, []);
  ticker.stop();
  const table = createStreamTable(() => ticker, 1_024 * 1_024);
  const stream = new HttpEventStream(table, { everyMs: 60_000, text: ': keep-alive\n' });
  stream.write(first);
  socket.cork(() => stream.open(socket.response));
  return stream;
}

const event = `data: ${'x'.repeat(1_000)}\n\n`;
const long = `data: ${'y'.repeat(50_000)}\n\n`;
const wide = `data: ${'\u20ac'.repeat(5_450)}\n\n`;
const texts = [event, event.repeat(20), wide, long, event.repeat(70), 'z'.repeat(200_000), event];
const written = (parts: readonly string[]) => Buffer.from(parts.join('')).toString('latin1');

test('nothing of a stream is longer than what a cork holds back', async () => {
  const socket = new FullSocket();
  const stream = openStream(socket, event.repeat(30));
  for (const text of texts) {
    stream.write(text);
    await turn();
  }
  stream.end(long);
  await turn();
  assert.equal(socket.lost, 0);
  assert.equal(socket.sent, written([event.repeat(30), ...texts, long, '[end]']));
});

test('nor is what waited for a reader', async () => {
  const socket = new FullSocket();
  const stream = openStream(socket);
  socket.isTaking = false;
  stream.write(event);
  await turn();
  const waited = [...Array<string>(64).fill(event), wide, long, event, long.repeat(3)];
  for (const text of waited) stream.write(text);
  stream.end(event);
  const corks = socket.corks;
  socket.drain();
  await turn();
  assert.equal(socket.lost, 0);
  assert.equal(socket.sent, written(['data: first\n\n', event, ...waited, event, '[end]']));
  // Short ones leave together: 64 in 5.
  assert.ok(socket.corks - corks < 30, `${socket.corks - corks} corks`);
});

test('nor are the bytes of a reply that is passed through', async () => {
  const socket = new FullSocket();
  const stream = new HttpByteStream(30_000);
  const bytes = Buffer.alloc(64 * 1_024, 'sound');
  stream.write(bytes);
  stream.open(socket.response);
  stream.write(bytes);
  socket.isTaking = false;
  stream.write(bytes);
  stream.write(bytes);
  stream.end();
  socket.drain();
  assert.equal(socket.lost, 0);
  assert.equal(socket.sent, `${bytes.toString('latin1').repeat(4)}[end]`);
});
