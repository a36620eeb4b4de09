// The life of a server: shared ports, draining, and clients that never finish what they began.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { freePort } from '../../harness/port.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { exchangeRaw, serve, testRoute, until } from './serving.ts';

const quick = testRoute({ path: '/v1/quick', handle: () => ({ status: 200, json: {} }) });

function slow(isDone: Promise<unknown>) {
  return testRoute({
    path: '/v1/slow',
    handle: async () => {
      await isDone;
      return { status: 200, json: { late: true } };
    },
  });
}

test('two servers share a port, and one goes on when the other closes', async () => {
  const port = await freePort();
  const first = await serve([quick], { port });
  const second = await serve([quick], { port });
  assert.deepEqual([first.port, second.port], [port, port]);
  const ask = () =>
    exchangeRaw(port, 'GET /v1/quick HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await Promise.all(Array.from({ length: 60 }, ask));
  assert.equal(first.samples.length + second.samples.length, 60);
  assert.ok(first.samples.length > 0 && second.samples.length > 0);
  assert.equal(await first.server.close(1000), 0);
  for (let round = 0; round < 20; round += 1) assert.match(await ask(), /^HTTP\/1\.1 200 /);
  await second.stop();
  assert.equal(await ask(), '');
});

test('an address that cannot be had rejects', async () => {
  const serving = await serve([quick]);
  await assert.rejects(serving.server.listen('203.0.113.1', 1));
  await serving.stop();
});

test('draining finishes what runs, closes its connections and takes nothing new', async () => {
  let finish = () => {};
  const isDone = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const serving = await serve([slow(isDone), quick]);
  const running = fetch(`${serving.origin}/v1/slow`);
  await until(() => serving.server.counts().exchanges === 1);
  const idle = connect(serving.port, '127.0.0.1');
  idle.on('error', () => undefined);
  const asking = connect(serving.port, '127.0.0.1');
  await until(() => serving.server.counts().sockets === 3);
  const closing = serving.server.close(30_000);
  const late = exchangeRaw(serving.port, 'GET /v1/quick HTTP/1.1\r\nhost: x\r\n\r\n');
  assert.equal(await late, '');
  const kept = new Promise<string>((resolve) => {
    let text = '';
    idle.on('data', (data) => {
      text += data;
    });
    idle.on('close', () => resolve(text));
  });
  idle.write('GET /v1/quick HTTP/1.1\r\nhost: x\r\n\r\n');
  assert.match(await kept, /connection: close/i);
  asking.write('HEAD /v1/quick HTTP/1.1\r\nhost: x\r\n\r\n');
  const [head] = (await once(asking, 'data')) as [Buffer];
  assert.match(head.toString(), /connection: close/i);
  finish();
  const reply = await running;
  assert.equal(reply.headers.get('connection'), 'close');
  assert.deepEqual(await reply.json(), { late: true });
  assert.equal(await closing, 0);
  assert.deepEqual(serving.server.counts(), { exchanges: 0, sockets: 0, streams: 0 });
});

test('what ends one after the other is not cut at a deadline that was missed', async () => {
  const ends: (() => void)[] = [];
  const each = testRoute({
    path: '/v1/each',
    handle: async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return { status: 200, json: {} };
    },
  });
  const serving = await serve([each]);
  const asked = Array.from({ length: 6 }, () => fetch(`${serving.origin}/v1/each`));
  await until(() => ends.length === 6);
  const closing = serving.server.close(1);
  for (const end of ends) {
    // The thread stands still for longer than the deadline before each of them.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const untilMs = performance.now() + 50;
    while (performance.now() < untilMs);
    end();
  }
  assert.equal(await closing, 0);
  const replies = await Promise.all(asked);
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  await serving.stop();
});

test('what does not finish by the deadline is cut and counted', async () => {
  const serving = await serve([slow(new Promise(() => {}))]);
  const running = fetch(`${serving.origin}/v1/slow`).catch((error: Error) => error.name);
  await until(() => serving.server.counts().exchanges === 1);
  assert.equal(await serving.server.close(50), 1);
  assert.equal(await running, 'TypeError');
  assert.equal(serving.server.counts().exchanges, 0);
});

test('a header that never ends is closed after uWS own timeout', { timeout: 90_000 }, async () => {
  const serving = await serve([quick]);
  const watch = startStopwatch();
  const socket = connect(serving.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET /v1/quick HTTP/1.1\r\n');
  // One header a second: each packet is in time, the request never is.
  const drip = setInterval(() => socket.write('x-a: b\r\n'), 1000);
  const silent = exchangeRaw(serving.port, '');
  await new Promise((resolve) => socket.on('close', resolve));
  clearInterval(drip);
  assert.equal(await silent, '');
  const elapsedMs = watch.assertWithin(17_000, 'closed');
  assert.ok(elapsedMs > 5000, `${elapsedMs} ms`);
  await until(() => serving.server.counts().sockets === 0);
  await serving.stop();
});

test('headers over the limit are refused by uWS itself', async () => {
  const serving = await serve([quick]);
  const huge = `GET /v1/quick HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(10_000_000)}\r\n\r\n`;
  const before = process.memoryUsage().rss;
  const reply = await exchangeRaw(serving.port, huge);
  assert.match(reply, /^(HTTP\/1\.1 431 |$)/);
  assert.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024);
  assert.equal((await fetch(`${serving.origin}/v1/quick`)).status, 200);
  await serving.stop();
});

const socketRoute = testRoute({
  path: '/v1/socket',
  handle: () => ({ status: 200, json: {} }),
  socket: {
    subprotocol: 'test',
    messageBytesMax: 100,
    framesPerSecondMax: 100,
    bufferedBytesMax: 1_000,
    silenceSecondsMax: 10,
    accept: () => ({
      opened: () => undefined,
      message: () => undefined,
      closed: () => undefined,
    }),
  },
});

test('a WebSocket is opened for who asks for one, not for each key', async () => {
  const serving = await serve([socketRoute]);
  const key = 'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  const answerTo = async (lines: string, version = '13') => {
    const socket = connect(serving.port, '127.0.0.1');
    const lead = `host: x\r\nsec-websocket-version: ${version}\r\n${key}${lines}`;
    socket.write(`GET /v1/socket HTTP/1.1\r\n${lead}\r\n`);
    const [head] = await once(socket, 'data');
    socket.destroy();
    return String(head);
  };
  for (const lines of ['', 'upgrade: websocket\r\n', 'upgrade: h2c\r\nconnection: upgrade\r\n']) {
    assert.match(await answerTo(lines), /^HTTP\/1\.1 200 /, lines);
  }
  for (const connection of [
    'Upgrade',
    'keep-alive, upgrade',
    'keep-alive\r\nconnection: upgrade',
  ]) {
    const lines = `upgrade: WebSocket\r\nconnection: ${connection}\r\n`;
    assert.match(await answerTo(lines), /^HTTP\/1\.1 101 /, lines);
    assert.match(await answerTo(lines, '8'), /^HTTP\/1\.1 200 /, 'of another version');
  }
  await serving.stop();
});

test('a WebSocket is counted as a socket until it ends, however it ends', async () => {
  const serving = await serve([socketRoute]);
  const count = () => serving.server.counts().sockets;
  for (const end of ['close', 'terminate'] as const) {
    const opened = Array.from({ length: 3 }, () => new WebSocket(`${serving.origin}/v1/socket`));
    await until(() => opened.every(({ readyState }) => readyState === WebSocket.OPEN));
    assert.equal(count(), 3);
    for (const socket of opened) socket[end]();
    await until(() => count() === 0);
  }
  await serving.stop();
});
