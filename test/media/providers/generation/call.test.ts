// Upstream calls over real sockets: the simulator for the format, raw servers for what no server
// should do. Every test ends with all connection slots free.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../../bench/sim/server.ts';
import type { UpstreamFailure } from '../../../../media/model/events.ts';
import {
  createUpstreamClient,
  type UpstreamClient,
} from '../../../../media/providers/generation/call.ts';
import type { UpstreamDeadlines } from '../../../../media/providers/generation/contract.ts';
import { eventually, startChatCall, textOf } from '../../../harness/chat-call.ts';

let sim: RunningSim;
let client: UpstreamClient;

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  client = createUpstreamClient({ connectionsMax: 4 });
});
after(async () => {
  await client.close();
  sim.close();
});
afterEach(async () => {
  await eventually(async () => client.openCount === 0, 'a connection slot is still taken');
});

const start = (text: string, deadlines: Partial<UpstreamDeadlines> = {}, baseUrl = '') =>
  startChatCall(
    client,
    text,
    deadlines,
    baseUrl === '' ? `http://127.0.0.1:${sim.port}/v1` : baseUrl,
  );

async function simStats(): Promise<{ started: number; aborted: number; open: number }> {
  const reply = await fetch(`http://127.0.0.1:${sim.port}/sim/stats`);
  return (await reply.json()) as Awaited<ReturnType<typeof simStats>>;
}

async function rawServer(
  answer: (socket: Socket) => void,
): Promise<{ server: Server; url: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { server, url: `http://127.0.0.1:${address.port}/v1` };
}

test('reads a stream to its end, many events in few reports, and another after it', async () => {
  const first = await start('[[sim tokens=500]]').done;
  assert.equal(first.failure, null);
  assert.equal(textOf(first.events).split(' ').length, 501);
  assert.deepEqual(first.events.at(-2), { type: 'finish', reason: 'stop' });
  assert.equal(first.events.at(-1)?.type, 'usage');
  assert.ok(first.batches < 100, `${first.batches} reports`);
  const second = await start('again [[sim tokens=1]]').done;
  assert.equal(textOf(second.events), ' t0');
});

test('classifies the provider status, and keeps its words out of the kind', async () => {
  const kinds: [number, UpstreamFailure['kind']][] = [
    [400, 'rejected'],
    [401, 'failed'],
    [403, 'failed'],
    [404, 'failed'],
    [408, 'timeout'],
    [413, 'rejected'],
    [422, 'rejected'],
    [429, 'busy'],
    [500, 'failed'],
    [529, 'failed'],
  ];
  for (const [status, kind] of kinds) {
    const { failure, events } = await start(`[[sim status=${status} retry_after=3]]`).done;
    assert.equal(failure?.kind, kind, String(status));
    assert.equal(failure?.status, status);
    assert.equal(failure?.retryAfterMs, status === 429 ? 3000 : null);
    assert.deepEqual(events, []);
  }
});

test('tells cut, error event and garbage in the middle apart, with the events before', async () => {
  for (const [fault, kind] of [
    ['cut', 'cut'],
    ['error', 'failed'],
    ['garbage', 'garbage'],
  ]) {
    const { events, failure } = await start(`[[sim fault=${fault} at=3]]`).done;
    assert.equal(failure?.kind, kind);
    assert.equal(textOf(events), ' t0 t1');
  }
  const { failure } = await start('[[sim fault=cut]]').done;
  assert.equal(failure?.kind, 'connect');
});

test('no listener at the port is a connect failure', async () => {
  const { server, url } = await rawServer(() => undefined);
  server.close();
  await once(server, 'close');
  const { failure } = await start('hi', {}, url).done;
  assert.equal(failure?.kind, 'connect');
});

test('each deadline ends the call and closes the socket', async () => {
  const before = await simStats();
  const cases: [string, Partial<UpstreamDeadlines>, string][] = [
    ['[[sim first_ms=30000]]', { firstEventMs: 100 }, ''],
    ['[[sim fault=stall at=2]]', { idleMs: 1_000 }, ' t0'],
    ['[[sim gap_ms=20 tokens=1000]]', { totalMs: 1_500 }, ' t0'],
  ];
  for (const [text, deadlines, begin] of cases) {
    const { events, failure } = await start(text, deadlines).done;
    assert.equal(failure?.kind, 'timeout');
    assert.ok(textOf(events).startsWith(begin), text);
  }
  await eventually(
    async () => (await simStats()).aborted === before.aborted + 3,
    'sockets stay open',
  );
});

test('a call that waits for a connection ends at its deadline, and none leaks', async () => {
  const holders = Array.from({ length: 4 }, () => start('[[sim fault=stall at=1]]'));
  await Promise.all(
    holders.map((holder) => eventually(async () => holder.events.length > 0, 'no first event')),
  );
  const { failure } = await start('hi', { connectMs: 100 }).done;
  assert.equal(failure?.kind, 'timeout');
  for (const holder of holders) holder.handle.abort();
  await eventually(async () => client.openCount === 0, 'slots leaked');
  assert.equal((await start('[[sim tokens=1]]').done).failure, null);
});

test('abort closes the upstream socket and nothing is reported after it', async () => {
  const before = await simStats();
  const running = start('[[sim tokens=1000 gap_ms=5]]');
  await eventually(async () => running.events.length > 3, 'no events');
  running.handle.abort();
  const seen = running.events.length;
  let ended = false;
  void running.done.then(() => {
    ended = true;
  });
  await eventually(
    async () => (await simStats()).aborted === before.aborted + 1,
    'socket stays open',
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(running.events.length, seen);
  assert.equal(ended, false);
});

test('abort at once, before there is a connection, leaves nothing behind', async () => {
  const before = await simStats();
  for (let round = 0; round < 20; round += 1) start('[[sim first_ms=2000]]').handle.abort();
  await eventually(async () => client.openCount === 0, 'slots leaked');
  await eventually(async () => (await simStats()).open === 0, 'the upstream still works');
  assert.ok((await simStats()).started - before.started <= 20);
});

test('pause stops the reading, idle does not count, resume reads the rest', async () => {
  const running = start('[[sim tokens=100000]]', { idleMs: 2_000 });
  await eventually(async () => running.events.length > 0, 'no events');
  running.handle.pause();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const seen = running.events.length;
  assert.ok(seen < 100_000, `${seen} events while paused`);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal(running.events.length, seen);
  running.handle.resume();
  const { events, failure } = await running.done;
  assert.equal(failure, null);
  assert.equal(events.filter((event) => event.type === 'text').length, 100_000);
});

test('an endless error body is read up to its bound only', async () => {
  let sent = 0;
  const { server, url } = await rawServer((socket) => {
    socket.write('HTTP/1.1 500 No\r\ncontent-length: 100000000\r\n\r\n');
    const more = () => {
      while (!socket.destroyed && socket.write('x'.repeat(65_536))) sent += 65_536;
      if (!socket.destroyed) socket.once('drain', more);
    };
    more();
  });
  const { failure } = await start('hi', {}, url).done;
  assert.equal(failure?.kind, 'failed');
  assert.equal(failure?.detail.length, 500);
  assert.ok(sent < 50_000_000);
  server.close();
});

test('a finished answer counts although the server never ends the body or resets it', async () => {
  const answer =
    'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n' +
    'data: [DONE]\n\n';
  for (const after of ['stall', 'reset']) {
    const { server, url } = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n${answer}`);
      if (after === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
    });
    const { events, failure } = await start('hi', {}, url).done;
    assert.equal(failure, null);
    assert.equal(textOf(events), 'a');
    server.close();
    await eventually(async () => client.openCount === 0, 'the slot is not given back');
  }
});

test('an answer that told its end is whole, though its body breaks off or stalls', async () => {
  const delta = 'data: {"choices":[{"index":0,"delta":{"content":"a"}';
  const told = `${delta},"finish_reason":"stop"}]}\n\n`;
  const untold = `${delta}}]}\n\n`;
  const cases: [isReset: boolean, answer: string, failure: UpstreamFailure['kind'] | null][] = [
    [true, told, null],
    [false, told, null],
    [true, untold, 'cut'],
    [false, untold, 'timeout'],
  ];
  for (const [isReset, answer, kind] of cases) {
    const { server, url } = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n${answer}`);
      if (isReset) setTimeout(() => socket.resetAndDestroy(), 50);
    });
    try {
      const deadlines = isReset ? {} : { idleMs: 1_000 };
      const { events, failure } = await start('hi', deadlines, url).done;
      assert.equal(failure?.kind ?? null, kind);
      assert.equal(textOf(events), 'a');
      const ends = events.filter(({ type }) => type === 'finish');
      assert.equal(ends.length, kind === null ? 1 : 0);
    } finally {
      server.close();
    }
    await eventually(async () => client.openCount === 0, 'the slot is given back');
  }
});

test('bytes that are not HTTP, and a redirect, are failures', async () => {
  const nonsense = await rawServer((socket) => socket.end('SSH-2.0-nothing\r\n'));
  assert.equal((await start('hi', {}, nonsense.url).done).failure?.kind, 'connect');
  nonsense.server.close();
  const redirect = await rawServer((socket) =>
    socket.end('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'),
  );
  assert.equal((await start('hi', {}, redirect.url).done).failure?.kind, 'failed');
  redirect.server.close();
});
