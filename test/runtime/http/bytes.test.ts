// Replies of bytes over real sockets: order, a reader that is slow or stops, ends of every kind.
import type { HttpResponse } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { HttpByteStream } from '../../../runtime/http/bytes.ts';
import type { ByteStream } from '../../../runtime/http/route.ts';
import { standStill } from '../../harness/standstill.ts';
import { type Serving, serve, testRoute, until } from './serving.ts';

let serving: Serving;
let opened: ByteStream[] = [];
let ends: string[] = [];
let atOpen: (stream: ByteStream) => void = () => undefined;

before(async () => {
  serving = await serve([
    testRoute({
      path: '/v1/bytes',
      replies: { 200: { description: 'bytes', mediaType: 'audio/mpeg' } },
      handle: () => ({
        status: 200,
        mediaType: 'audio/mpeg',
        headers: { 'x-extra': 'yes' },
        pour: (stream) => {
          stream.onClose((reason) => ends.push(reason));
          opened.push(stream);
          atOpen(stream);
        },
      }),
    }),
  ]);
});
after(() => serving.stop());
beforeEach(() => {
  opened = [];
  ends = [];
  atOpen = () => undefined;
});

async function open(): Promise<{ reply: Response; stream: ByteStream }> {
  const reply = await fetch(`${serving.origin}/v1/bytes`);
  const stream = opened[0];
  assert.ok(stream !== undefined);
  return { reply, stream };
}

test('bytes arrive as they were written, before and after the headers', async () => {
  atOpen = (stream) => assert.equal(stream.write(Buffer.from('first ')), true);
  const { reply, stream } = await open();
  assert.equal(reply.headers.get('content-type'), 'audio/mpeg');
  assert.equal(reply.headers.get('x-extra'), 'yes');
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  assert.equal(reply.headers.get('x-accel-buffering'), 'no');
  for (const text of ['second ', 'third']) {
    assert.equal(stream.write(Buffer.from(text)), true);
    await sleep(5);
  }
  stream.end();
  assert.equal(await reply.text(), 'first second third');
  assert.deepEqual(ends, ['ended']);
  assert.equal(stream.write(Buffer.from('late')), false);
});

test('a reply that ends at once is whole', async () => {
  atOpen = (stream) => {
    stream.write(Buffer.from('all'));
    stream.end();
  };
  const { reply } = await open();
  assert.equal(await reply.text(), 'all');
  assert.deepEqual(ends, ['ended']);
});

test('a failed reply is cut, so that nobody takes it for the whole', async () => {
  atOpen = (stream) => void stream.write(Buffer.from('half'));
  const { reply, stream } = await open();
  await sleep(10);
  stream.fail();
  await assert.rejects(reply.text());
  assert.deepEqual(ends, ['failed']);
  await until(() => serving.server.counts().exchanges === 0);
});

test('a client that leaves closes the stream', async () => {
  const controller = new AbortController();
  const asking = fetch(`${serving.origin}/v1/bytes`, { signal: controller.signal });
  await until(() => opened.length === 1);
  opened[0]?.write(Buffer.from('x'));
  await asking;
  controller.abort();
  await until(() => ends.length === 1);
  assert.deepEqual(ends, ['aborted']);
});

test('a writer that waits for the reader has little in memory, and loses nothing', async () => {
  const piece = Buffer.alloc(64 * 1024, 'p');
  const count = 512;
  let written = 0;
  let most = 0;
  const socket = connect(serving.port, '127.0.0.1');
  socket.pause();
  socket.write('GET /v1/bytes HTTP/1.1\r\nhost: x\r\n\r\n');
  const fill = (stream: ByteStream) => {
    while (written < count) {
      written += 1;
      if (!stream.write(piece)) return;
    }
    stream.end();
  };
  atOpen = (stream) => stream.onDrain(() => fill(stream));
  await until(() => opened.length === 1 && written > 0);
  await sleep(200);
  most = written;
  assert.ok(most > 0 && most < 200, `${most} pieces are ahead of a reader that reads nothing`);
  let received = 0;
  socket.on('data', (bytes: Buffer) => {
    received += bytes.length;
  });
  socket.resume();
  await until(() => ends.length === 1);
  assert.deepEqual(ends, ['ended']);
  await until(() => received > count * piece.length);
  socket.destroy();
});

test('a client that takes nothing for too long is cut', async () => {
  let isClosed = false;
  const response = {
    cork: (work: () => void) => work(),
    write: () => false,
    onWritable: () => undefined,
    close: () => {
      isClosed = true;
    },
  } as unknown as HttpResponse;
  const stream = new HttpByteStream(30);
  const reasons: string[] = [];
  stream.onClose((reason) => reasons.push(reason));
  stream.open(response);
  assert.equal(stream.write(Buffer.from('x')), false);
  assert.equal(stream.closed, false);
  await until(() => stream.closed);
  assert.deepEqual([reasons, isClosed], [['failed'], true]);
});

test('a client that took all while we stood still is not cut', async () => {
  let takesMore = false;
  let drain: (() => void) | undefined;
  const response = {
    cork: (work: () => void) => work(),
    write: () => takesMore,
    onWritable: (handler: () => void) => {
      drain = handler;
    },
    close: () => undefined,
    end: () => undefined,
  } as unknown as HttpResponse;
  const stream = new HttpByteStream(1_000);
  const reasons: string[] = [];
  stream.onClose((reason) => reasons.push(reason));
  stream.open(response);
  assert.equal(stream.write(Buffer.from('x')), false);
  // What its socket would tell is read behind the timers.
  const { port1, port2 } = new MessageChannel();
  const drained = once(port2, 'message').then(() => {
    takesMore = true;
    drain?.();
  });
  await standStill(2_500, () => port1.postMessage(null));
  await drained;
  assert.equal(stream.write(Buffer.from('y')), true);
  stream.end();
  assert.deepEqual(reasons, ['ended']);
  port1.close();
});
