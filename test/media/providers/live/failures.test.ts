// Live calls over real sockets to upstreams that refuse, stall, cut, and talk nonsense.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { created, done } from './openai-realtime/fixtures.ts';
import { allClosed, openCall, send, setsUp, stopUpstreams, upstreamOf } from './session.ts';
import { pcm } from './streams.ts';
import { startUpstream } from './upstream.ts';

afterEach(stopUpstreams);

for (const [status, kind] of [
  [401, 'refused'],
  [403, 'refused'],
  [404, 'refused'],
  [302, 'refused'],
  [200, 'refused'],
  [429, 'busy'],
  [503, 'busy'],
  [500, 'connect'],
  [504, 'timeout'],
] as const) {
  test(`a handshake answered with ${status} is ${kind}`, async () => {
    const upstream = await upstreamOf({ status, body: 'x'.repeat(3000) });
    const { call, listener } = openCall(upstream.port);
    const failed = await listener.until('failed');
    assert.equal(failed.kind, kind);
    assert.ok(failed.text.startsWith(`HTTP ${status}: xxx`) && failed.text.length <= 500);
    call.close(1000);
    await sleep(20);
    assert.deepEqual(listener.types, ['failed'], 'nothing after it');
    await allClosed(upstream);
  });
}

const quota = { type: 'insufficient_quota', code: 'insufficient_quota', message: 'x'.repeat(600) };

test('a handshake that nobody has paid for is unpaid, however long the refusal is', async () => {
  for (const [status, error] of [
    [429, quota],
    [402, { message: 'Payment required' }],
  ] as const) {
    const upstream = await upstreamOf({ status, body: JSON.stringify({ error }) });
    const { listener } = openCall(upstream.port);
    assert.equal((await listener.until('failed')).kind, 'unpaid');
    await allClosed(upstream);
  }
});

for (const [code, reason, before, after] of [
  [1000, '', 'closed', 'closed'],
  [1007, 'Request contains an invalid argument', 'refused', 'refused'],
  [1008, 'model is not found', 'refused', 'closed'],
  [1011, 'Deadline expired before operation could complete.', 'closed', 'closed'],
  [1011, 'You exceeded your current quota', 'busy', 'busy'],
  [1011, 'Your prepayment credits are depleted. Please go to AI Studio', 'unpaid', 'unpaid'],
  [1013, '', 'busy', 'busy'],
  [3000, 'invalid_request_error.invalid_api_key', 'refused', 'closed'],
  [4001, 'anything', 'refused', 'closed'],
] as const) {
  test(`close code ${code} ${reason} is ${before} before ready, ${after} after it`, async () => {
    const early = await upstreamOf({ connected: (socket) => socket.close(code, reason) });
    assert.equal((await openCall(early.port).listener.until('failed')).kind, before);
    const late = await upstreamOf(setsUp((socket) => socket.close(code, reason)));
    const { listener } = openCall(late.port);
    assert.equal((await listener.until('failed')).kind, after);
    assert.deepEqual(listener.types, ['ready', 'failed']);
    await Promise.all([allClosed(early), allClosed(late)]);
  });
}

test('nobody listens: connect', async () => {
  const upstream = await startUpstream({});
  await upstream.close();
  const { listener } = openCall(upstream.port);
  assert.equal((await listener.until('failed')).kind, 'connect');
});

test('an address that is none fails later, not at once', async () => {
  const { listener } = openCall(0, { path: ':x:/v1' });
  assert.equal((await listener.until('failed')).kind, 'refused');
});

test('no answer to the upgrade: a timeout, and the socket is gone', async () => {
  const upstream = await upstreamOf({ isMute: true });
  const { listener } = openCall(upstream.port, { deadlines: { connectMs: 500 } });
  assert.equal((await listener.until('failed')).kind, 'timeout');
  await allClosed(upstream);
});

test('a set-up that never completes is a timeout, also while it chatters', async () => {
  const chatter = (socket: WebSocket) => {
    const timer = setInterval(() => send(socket, { type: 'session.created' }), 20);
    socket.on('close', () => clearInterval(timer));
  };
  const upstream = await upstreamOf({ connected: chatter });
  const { listener } = openCall(upstream.port, { deadlines: { readyMs: 500 } });
  assert.equal((await listener.until('failed')).kind, 'timeout');
  await allClosed(upstream);
});

test('a cut connection is closed, nonsense is garbage, and then there is silence', async () => {
  const cut = await upstreamOf(setsUp((socket) => socket.terminate()));
  assert.equal((await openCall(cut.port).listener.until('failed')).kind, 'closed');
  const nonsense = await upstreamOf(
    setsUp((socket) => {
      socket.send('{"type":');
      for (let index = 0; index < 50; index += 1) send(socket, created(`resp_${index}`), done());
    }),
  );
  const { listener } = openCall(nonsense.port);
  assert.equal((await listener.until('failed')).kind, 'garbage');
  await sleep(50);
  assert.deepEqual(listener.types, ['ready', 'failed']);
  await allClosed(nonsense);
});

const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
const unprintable = '{"toString":1}';

for (const [what, family, message] of [
  ['an error whose code is no text', 'openai-realtime', errorOf(`{"code":${unprintable}}`)],
  ['an error whose code is deep', 'openai-realtime', errorOf(`{"code":${deep}}`)],
  ['a media type that is no text', 'gemini-live', soundOf(unprintable)],
  ['arguments that are deep', 'gemini-live', callOf(`{"a":${deep}}`)],
]) {
  test(`${what} ends its session as garbage, and not the thread`, async () => {
    const ready = family === 'gemini-live' ? '{"setupComplete":{}}' : '{"type":"session.updated"}';
    const upstream = await upstreamOf({
      message: (socket) => {
        socket.send(ready);
        socket.send(message ?? '');
      },
    });
    const { listener } = openCall(upstream.port, { family: family ?? '' });
    assert.equal((await listener.until('failed')).kind, 'garbage');
    assert.deepEqual(listener.types, ['ready', 'failed']);
    await allClosed(upstream);
  });
}

function errorOf(error: string): string {
  return `{"type":"error","error":${error}}`;
}

function soundOf(mimeType: string): string {
  const part = `{"inlineData":{"mimeType":${mimeType},"data":"AAAA"}}`;
  return `{"serverContent":{"modelTurn":{"parts":[${part}]}}}`;
}

function callOf(args: string): string {
  return `{"toolCall":{"functionCalls":[{"id":"1","name":"f","args":${args}}]}}`;
}

test('a frame that breaks RFC 6455, and a message beyond the bound, are garbage', async () => {
  const broken = await upstreamOf({
    connected: (_socket, socket) => {
      socket.write(Buffer.of(0xff, 0xff, 0xff, 0xff));
    },
  });
  assert.equal((await openCall(broken.port).listener.until('failed')).kind, 'garbage');
  const long = await upstreamOf(setsUp((socket) => send(socket, { type: 'x'.repeat(70_000) })));
  const { listener } = openCall(long.port, { bounds: { messageBytesMax: 65_536 } });
  assert.equal((await listener.until('failed')).kind, 'garbage');
  await Promise.all([allClosed(broken), allClosed(long)]);
});

test('an upstream that does not read: audio is dropped and counted, then closed', async () => {
  const upstream = await upstreamOf({
    ...setsUp(),
    connected: (_socket, raw) => void setTimeout(() => raw.pause(), 100),
  });
  const { call, listener } = openCall(upstream.port, {
    bounds: { bufferedBytesMax: 64 * 1024, stallMs: 2_000, closeMs: 100 },
  });
  await listener.until('ready');
  await sleep(150);
  const frame = pcm(1, 8192);
  let sent = 0;
  const startedMs = performance.now();
  while (!listener.types.includes('failed') && performance.now() - startedMs < 30_000) {
    if (call.audio(frame)) sent += 1;
    if (sent % 100 === 0 || call.droppedFrames > 0) await sleep(2);
  }
  const failed = await listener.until('failed');
  assert.equal(failed.kind, 'closed');
  assert.ok(call.droppedFrames > 10, 'frames were counted');
  assert.equal(call.audio(frame), false);
  for (const socket of upstream.sockets) socket.resume();
  await allClosed(upstream);
});
