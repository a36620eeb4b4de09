// Event streams over real sockets: order, keep-alives, slow readers, ends.
import type { HttpResponse } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { connect } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import type { EventStream } from '../../../runtime/http/route.ts';
import { createStreamTable, HttpEventStream } from '../../../runtime/http/stream.ts';
import { createTicker } from '../../../runtime/http/ticker.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { type Serving, serve, testRoute, until } from './serving.ts';

const bufferBytesMax = 256 * 1024;
let serving: Serving;
let opened: EventStream[] = [];
let ends: string[] = [];
let atOpen: (stream: EventStream) => void = () => undefined;

before(async () => {
  serving = await serve(
    [
      testRoute({
        path: '/v1/stream',
        handle: () => ({
          status: 200,
          headers: { 'x-extra': 'yes' },
          keepAlive: { everyMs: 200, text: ': keep-alive\n' },
          stream: (stream) => {
            stream.onClose((reason) => ends.push(reason));
            opened.push(stream);
            atOpen(stream);
          },
        }),
      }),
    ],
    { limits: { tickMs: 20, streamBufferBytesMax: bufferBytesMax } },
  );
});
after(() => serving.stop());
beforeEach(() => {
  opened = [];
  ends = [];
  atOpen = () => undefined;
});

async function open(): Promise<{ reply: Response; stream: EventStream }> {
  const reply = await fetch(`${serving.origin}/v1/stream`);
  const stream = opened[0];
  assert.ok(stream !== undefined);
  return { reply, stream };
}

test('a long text arrives whole, whatever its characters take', async () => {
  for (const unit of ['a', 'ü', '€', '😀', 'a€']) {
    opened = [];
    const texts = [1_100, 30_000, 62_000].map((length) => `${unit.repeat(length / unit.length)}\n`);
    const { reply, stream } = await open();
    for (const text of texts) {
      stream.write(text);
      await new Promise((resolve) => setImmediate(resolve));
    }
    stream.write(texts.join(''));
    stream.end();
    assert.equal((await reply.text()).replaceAll(': keep-alive\n', ''), texts.join('').repeat(2));
  }
});

test('events arrive in order, with the headers of an event stream', async () => {
  atOpen = (stream) => stream.write('data: first\n\n');
  const { reply, stream } = await open();
  assert.equal(reply.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  assert.equal(reply.headers.get('x-accel-buffering'), 'no');
  assert.equal(reply.headers.get('x-extra'), 'yes');
  let expected = 'data: first\n\n';
  for (let index = 0; index < 500; index += 1) {
    const text = `data: ${index} é😀\n\n`;
    expected += text;
    assert.equal(stream.write(text), true);
    if (index % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  stream.end('data: [DONE]\n\n');
  assert.equal(stream.write('never'), false);
  assert.equal(await reply.text(), `${expected}data: [DONE]\n\n`);
  assert.deepEqual(ends, ['ended']);
  assert.equal(stream.closed, true);
  assert.equal(serving.server.counts().streams, 0);
});

test('a stream that ends at once is one whole reply', async () => {
  atOpen = (stream) => {
    stream.write('data: a\n\n');
    stream.end('data: b\n\n');
  };
  const { reply } = await open();
  assert.equal(await reply.text(), 'data: a\n\ndata: b\n\n');
  assert.deepEqual(ends, ['ended']);
});

test('what the callback throws is an ordinary 500', async () => {
  atOpen = () => {
    throw new Error('before the headers');
  };
  const reply = await fetch(`${serving.origin}/v1/stream`);
  assert.equal(reply.status, 500);
  assert.match(reply.headers.get('content-type') ?? '', /json/);
});

test('keep-alives come after silence only, and no later than asked', async () => {
  const { reply, stream } = await open();
  const writtenAt: number[] = [];
  const arrivals: { line: string; atMs: number }[] = [];
  const reading = (async () => {
    for await (const bytes of reply.body ?? []) {
      const lines = Buffer.from(bytes).toString().split('\n').filter(Boolean);
      arrivals.push(...lines.map((line) => ({ line, atMs: performance.now() })));
    }
  })();
  for (let round = 0; round < 6; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    writtenAt.push(performance.now());
    stream.write(`data: ${round}\n\n`);
  }
  const watch = startStopwatch();
  await until(() => arrivals.slice(-4).every(({ line }) => line === ': keep-alive'));
  const allowedMs = 290 * watch.busyFactor();
  stream.end();
  await reading;
  // One opens the stream, since nothing was written in the callback.
  assert.equal(arrivals.shift()?.line, ': keep-alive');
  const data = arrivals.filter(({ line }) => line.startsWith('data'));
  assert.equal(
    data.map(({ line }) => line).join(),
    [0, 1, 2, 3, 4, 5].map((n) => `data: ${n}`).join(),
  );
  const gaps: number[] = [];
  let sentAt = 0;
  let sinceMs = 0;
  // What left last is known when it is ours; then come keep-alives, each after as much silence.
  for (const { line, atMs } of arrivals) {
    if (line.startsWith('data')) {
      sentAt = writtenAt[Number(line.slice(6))] ?? 0;
      sinceMs = 0;
      continue;
    }
    sinceMs += 180;
    assert.ok(atMs - sentAt > sinceMs, `a keep-alive ${atMs - sentAt} ms after the last event`);
    gaps.push((atMs - sentAt) / (sinceMs / 180));
  }
  // The best of them: the machine may hold up any single one.
  assert.ok(Math.min(...gaps.slice(-4)) < allowedMs, `${gaps} ms`);
});

test('a client that leaves closes the stream', async () => {
  const abort = new AbortController();
  const reply = await fetch(`${serving.origin}/v1/stream`, { signal: abort.signal });
  assert.equal(reply.status, 200);
  abort.abort();
  await until(() => ends.length > 0);
  assert.deepEqual(ends, ['aborted']);
  assert.equal(opened[0]?.write('data: x\n\n'), false);
  let late = '';
  opened[0]?.onClose((reason) => {
    late = reason;
  });
  assert.equal(late, 'aborted');
});

/** A client that reads nothing until `resume`. */
async function openPaused() {
  const socket = connect(serving.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write('GET /v1/stream HTTP/1.1\r\nhost: x\r\n\r\n');
  await until(() => opened.length === 1);
  const stream = opened[0];
  assert.ok(stream !== undefined);
  return { socket, stream };
}

const event = `data: ${'x'.repeat(1000)}\n\n`;

/** Writes until the socket takes no more and something waits in our own queue. */
async function fill(stream: EventStream): Promise<number> {
  let written = 0;
  while (stream.bufferedBytes === 0 && !stream.closed) {
    for (let count = 0; count < 64; count += 1) {
      if (stream.write(event)) written += 1;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return written;
}

test('a reader that stops is dropped at the bound, and its memory is bounded', async () => {
  const { stream } = await openPaused();
  await fill(stream);
  const heapBefore = process.memoryUsage();
  let most = 0;
  let isWriting = true;
  for (let count = 0; isWriting; count += 1) {
    assert.ok(count < 100_000, 'it was never dropped');
    isWriting = stream.write(event);
    most = Math.max(most, stream.bufferedBytes);
  }
  assert.ok(most <= bufferBytesMax + event.length, `${most} bytes were waiting`);
  assert.ok(most > bufferBytesMax);
  assert.deepEqual(ends, ['slow']);
  assert.equal(stream.bufferedBytes, 0);
  const grown = process.memoryUsage().rss - heapBefore.rss;
  assert.ok(grown < 16 * 1024 * 1024, `${grown} bytes`);
  await until(() => serving.server.counts().exchanges === 0);
});

test('a reader that pauses gets everything, and the end comes after it', async () => {
  const { socket, stream } = await openPaused();
  let drains = 0;
  stream.onDrain(() => {
    drains += 1;
  });
  let written = await fill(stream);
  while (stream.bufferedBytes < bufferBytesMax / 2 && stream.write(event)) written += 1;
  stream.end('data: [DONE]\n\n');
  assert.equal(stream.closed, false);
  let received = '';
  socket.on('data', (data) => {
    received += data.toString('latin1');
  });
  socket.resume();
  await until(() => received.includes('[DONE]'));
  assert.equal(received.split('x'.repeat(1000)).length - 1, written);
  assert.equal(drains, 0);
  assert.deepEqual(ends, ['ended']);
  socket.destroy();
});

test('one piece larger than the bound does not drop a reader that kept up', async () => {
  const { socket, stream } = await openPaused();
  await fill(stream);
  const large = `data: ${'~'.repeat(4 * bufferBytesMax)}\n\n`;
  assert.equal(stream.write(large), true);
  assert.equal(stream.closed, false);
  let received = 0;
  socket.on('data', (data) => {
    received += data.toString('latin1').split('~').length - 1;
  });
  socket.resume();
  await until(() => received === 4 * bufferBytesMax);
  assert.equal(stream.write(event), true);
  stream.end();
  await until(() => ends.length === 1);
  assert.deepEqual(ends, ['ended']);
  socket.destroy();
});

test('after a pause the queue drains, says so, and the stream goes on', async () => {
  const { socket, stream } = await openPaused();
  let drains = 0;
  stream.onDrain(() => {
    drains += 1;
  });
  const written = await fill(stream);
  let received = '';
  socket.on('data', (data) => {
    received += data.toString('latin1');
  });
  socket.resume();
  await until(() => drains === 1 && stream.bufferedBytes === 0);
  await until(() => received.split('x'.repeat(1000)).length - 1 === written);
  stream.write('data: after\n\n');
  await until(() => received.includes('data: after'));
  socket.destroy();
  await until(() => ends.length === 1);
  assert.deepEqual(ends, ['aborted']);
});

test('a socket that is writable between the last write and its turn loses nothing', async () => {
  let sent = '';
  let onWritable = () => true;
  const response = {
    cork: (work: () => void) => work(),
    write: (text: string) => {
      sent += text;
      return true;
    },
    end: (text: string) => {
      sent += text;
    },
    onWritable: (listener: () => boolean) => {
      onWritable = listener;
    },
  } as unknown as HttpResponse;
  const ticker = createTicker(1_000, []);
  const table = createStreamTable(() => ticker, bufferBytesMax);
  const stream = new HttpEventStream(table, { everyMs: 60_000, text: ': keep-alive\n' });
  stream.write('data: first\n\n');
  stream.open(response);
  stream.write('data: last\n\n');
  stream.end('data: [DONE]\n\n');
  // As for a slow reader: uWS had kept a part of the first one, and told nobody.
  onWritable();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(sent, 'data: first\n\ndata: last\n\ndata: [DONE]\n\n');
  assert.equal(stream.closed, true);
  ticker.stop();
});

test('500 idle streams are kept alive by the one ticker', { timeout: 120_000 }, async () => {
  const sockets = Array.from({ length: 500 }, () => {
    const socket = connect(serving.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /v1/stream HTTP/1.1\r\nhost: x\r\n\r\n');
    return socket;
  });
  const kept = sockets.map((socket) => {
    let count = 0;
    socket.on('data', (data) => {
      count += data.toString('latin1').split(': keep-alive').length - 1;
    });
    return () => count;
  });
  await until(() => serving.server.counts().streams === 500);
  await until(() => kept.every((count) => count() >= 3));
  for (const socket of sockets) socket.destroy();
  await until(() => serving.server.counts().streams === 0);
});
