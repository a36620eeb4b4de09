// Live calls over real sockets as they should go, and how they end when they are closed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { voiceLimits } from '../../../../actors/voice/limits.ts';
import { testSeed } from '../../../harness/seed.ts';
import { startStopwatch } from '../../../harness/stopwatch.ts';
import {
  created,
  delta,
  done,
  itemAdded,
  sessionUpdated,
  usageEvent,
} from './openai-realtime/fixtures.ts';
import {
  allClosed,
  openCall,
  openDialled,
  send,
  setsUp,
  stopUpstreams,
  upstreamOf,
} from './session.ts';
import { pcm, plainSetup } from './streams.ts';

afterEach(stopUpstreams);

test('OpenAI Realtime: set-up, audio both ways, barge-in, close with its usage', async () => {
  const upstream = await upstreamOf({
    message: (socket, { type, audio_end_ms: endMs }) => {
      if (type === 'session.update') send(socket, sessionUpdated());
      if (type === 'input_audio_buffer.append') {
        send(socket, created(), itemAdded('item_1'), delta('item_1', pcm(1)));
      }
      if (endMs === 7) send(socket, delta('item_1', pcm(2)), done('cancelled'), created('resp_2'));
      if (type === 'response.cancel' && upstream.received.length > 5) {
        send(socket, done('cancelled', {}, 'resp_2'));
      }
    },
  });
  const context = [{ role: 'user', content: 'Hello' }] as const;
  const { call, listener } = openCall(upstream.port, { setup: { ...plainSetup, context } });
  assert.equal(call.audio(pcm(9)), false, 'not before ready');
  await listener.until('ready');
  assert.equal(call.audio(pcm(9)), true);
  await listener.until('audio');
  call.bargeIn({ itemId: 'item_1', heardMs: 7 });
  await listener.until('usage');
  await sleep(20);
  call.close(2000);
  await listener.until('ended');
  assert.deepEqual(
    upstream.received.map(({ type }) => type),
    [
      'session.update',
      'conversation.item.create',
      'input_audio_buffer.append',
      'response.cancel',
      'conversation.item.truncate',
      'response.cancel',
    ],
  );
  assert.deepEqual(listener.told, [
    { type: 'ready' },
    { type: 'answer_started', itemId: 'item_1' },
    { type: 'audio', itemId: 'item_1', pcm: pcm(1) },
    { type: 'unheard', durationMs: 10 },
    usageEvent,
    usageEvent,
    { type: 'ended' },
  ]);
  const [request] = upstream.requests;
  assert.equal(request?.url, '/v1/realtime?model=live-1');
  assert.equal(request.headers.authorization, 'Bearer key-1');
  assert.equal(request.headers['sec-websocket-extensions'], undefined, 'no compression');
  assert.equal(call.droppedFrames, 1);
  await allClosed(upstream);
});

test('Gemini Live: set-up, audio both ways in binary frames, usage', async () => {
  const upstream = await upstreamOf({
    message: (socket, message) => {
      const tell = (answer: unknown) => socket.send(Buffer.from(JSON.stringify(answer)));
      if ('setup' in message) tell({ setupComplete: {} });
      if (!('realtimeInput' in message)) return;
      const data = pcm(1).toString('base64');
      const inlineData = { mimeType: 'audio/pcm;rate=24000', data };
      tell({ serverContent: { modelTurn: { parts: [{ inlineData }] } } });
      tell({
        serverContent: { turnComplete: true },
        usageMetadata: { promptTokenCount: 5, responseTokenCount: 7 },
      });
    },
  });
  const { call, listener } = openCall(upstream.port, { family: 'gemini-live', path: '/v1beta' });
  await listener.until('ready');
  call.audio(pcm(9));
  await listener.until('answer_done');
  call.close(2000);
  await listener.until('ended');
  const types = ['ready', 'answer_started', 'audio', 'usage', 'audio_done', 'answer_done', 'ended'];
  assert.deepEqual(listener.types, types);
  const [request] = upstream.requests;
  const service = 'google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
  assert.equal(request?.url, `/ws/${service}`);
  assert.equal(request.headers['x-goog-api-key'], 'key-1');
  await allClosed(upstream);
});

test('close ends at once when nothing is owed, also before there is a connection', async () => {
  const upstream = await upstreamOf(setsUp());
  const { call, listener } = openCall(upstream.port);
  await listener.until('ready');
  call.close(60_000);
  call.close(0);
  assert.equal(listener.types.at(-1), 'ready', 'told after it returned');
  await listener.until('ended');
  const early = openCall(upstream.port);
  early.call.close(60_000);
  await early.listener.until('ended');
  const setting = await upstreamOf({});
  const between = openCall(setting.port);
  await sleep(100);
  between.call.close(60_000);
  await between.listener.until('ended');
  await sleep(20);
  assert.deepEqual(between.listener.types, ['ended']);
  assert.deepEqual(listener.types, ['ready', 'ended']);
  await Promise.all([allClosed(upstream), allClosed(setting)]);
});

test('while it lingers only what is used is told, to the end of upstream or time', async () => {
  const answers = (socket: WebSocket) => send(socket, created(), delta('item_1', pcm(1)));
  const silent = await upstreamOf(setsUp(answers));
  const { call, listener } = openCall(silent.port);
  await listener.until('audio');
  const watch = startStopwatch();
  call.close(200);
  await listener.until('ended');
  const tookMs = watch.assertWithin(1_500, 'ended');
  assert.ok(tookMs > 150, `${tookMs}`);
  assert.deepEqual(listener.types, ['ready', 'answer_started', 'audio', 'ended']);

  const leaving = await upstreamOf({
    message: (socket, { type }) => {
      if (type === 'session.update') {
        send(socket, sessionUpdated());
        answers(socket);
      }
      if (type === 'response.cancel') {
        send(socket, delta('item_2', pcm(2)));
        socket.close(1011);
      }
    },
  });
  const other = openCall(leaving.port);
  await other.listener.until('audio');
  other.call.close(60_000);
  await other.listener.until('ended');
  assert.deepEqual(other.listener.types, ['ready', 'answer_started', 'audio', 'unheard', 'ended']);
  await Promise.all([allClosed(silent), allClosed(leaving)]);
});

test('what an upstream says while it waits is read at the end, and its usage counts', async () => {
  const codes: number[] = [];
  const upstream = await upstreamOf({
    connected: (socket) => socket.on('close', (code) => void codes.push(code)),
    message: (socket, { type }) => {
      if (type === 'session.update') {
        send(socket, sessionUpdated(), created(), delta('item_1', pcm(1)));
      }
      if (type === 'response.cancel') send(socket, done('cancelled'));
    },
  });
  const { call, listener } = openCall(upstream.port);
  await listener.until('audio');
  call.pause();
  call.close(60_000);
  await listener.until('ended');
  assert.deepEqual(listener.types, ['ready', 'answer_started', 'audio', 'usage', 'ended']);
  await allClosed(upstream);
  assert.deepEqual(codes, [1000], 'left with a goodbye');
});

test('an answer that ends without usage is told as well: no later report counts it', async () => {
  const upstream = await upstreamOf({
    message: (socket, { type }) => {
      if (type === 'session.update') {
        send(socket, sessionUpdated(), created(), delta('item_1', pcm(1)));
      }
      if (type === 'response.cancel') send(socket, done('cancelled', { usage: null }));
    },
  });
  const { call, listener } = openCall(upstream.port);
  await listener.until('audio');
  call.close(60_000);
  await listener.until('ended');
  const told = ['ready', 'answer_started', 'audio', 'unreported', 'ended'];
  assert.deepEqual(listener.types, told);
  await allClosed(upstream);
});

test('a hundred calls closed at random moments leave no socket and end once', async () => {
  const seed = testSeed;
  console.log(`seed ${seed}`);
  const upstream = await upstreamOf(
    setsUp((socket) => send(socket, created(), delta('item_1', pcm(1)), done())),
  );
  const calls = Array.from({ length: 100 }, (_, index) => {
    const opened = openCall(upstream.port);
    const afterMs = (index * seed) % 60;
    setTimeout(() => opened.call.close(50), afterMs);
    return opened;
  });
  await Promise.all(calls.map(({ listener }) => listener.until('ended')));
  await sleep(100);
  for (const { listener } of calls) {
    assert.equal(listener.types.filter((type) => type === 'ended').length, 1);
    assert.equal(listener.types.at(-1), 'ended');
    assert.ok(!listener.types.includes('failed'));
  }
  await allClosed(upstream);
});

test('an upstream that does not answer the close frame is left after a moment', async () => {
  let accepted = false;
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('close', () => server.close());
    socket.once('data', (data) => {
      socket.write(accept(String(data)));
      accepted = true;
    });
  });
  const closed = once(server, 'close');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const { call, listener } = openCall(address.port, { bounds: { closeMs: 100 } });
  while (!accepted) await sleep(10);
  await sleep(100);
  call.close(0);
  await listener.until('ended');
  const startedMs = performance.now();
  await closed;
  assert.ok(performance.now() - startedMs < 20_000);
});

function accept(request: string): string {
  const key = /sec-websocket-key: (.+)\r\n/i.exec(request)?.[1] ?? '';
  const magic = `${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const hash = createHash('sha1').update(magic).digest('base64');
  const headers = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${hash}`];
  return `HTTP/1.1 101 Switching Protocols\r\n${headers.join('\r\n')}\r\n\r\n`;
}

test('what a session may send at once waits whole for a network that takes nothing', async () => {
  const upstream = await upstreamOf(setsUp());
  const { call, listener, socket } = openDialled(upstream.port);
  await listener.until('ready');
  // As when the kernel takes nothing more: what is written waits in this process.
  socket.cork();
  const { earlyAudioMs, frameBurstMs, frameMs } = voiceLimits;
  const frames = Math.ceil((earlyAudioMs + frameBurstMs) / frameMs);
  const frame = new Uint8Array(frameMs * 48).fill(0x55);
  for (let sent = 0; sent < frames; sent += 1) call.audio(frame);
  assert.equal(call.droppedFrames, 0, 'early sound and a whole burst');
  const taken = overfill(() => call.audio(frame));
  const waitingBytes = socket.writableLength;
  assert.ok(waitingBytes < 520 * 1024, `${waitingBytes} bytes wait, and no more`);
  socket.uncork();
  const appended = () => upstream.received.filter(({ type }) => type !== 'session.update').length;
  const deadlineMs = performance.now() + 30_000;
  while (appended() < frames + taken && performance.now() < deadlineMs) await sleep(5);
  assert.equal(appended(), frames + taken, 'all of it arrives');
  assert.equal(call.audio(frame), true, 'and sound goes on');
  call.close(0);
  await listener.until('ended');
});

test('who drops sound now and then, and takes it in between, has not stalled', async () => {
  const upstream = await upstreamOf(setsUp());
  const bounds = { bufferedBytesMax: 4_096, stallMs: 2_000 };
  const { call, listener, socket } = openDialled(upstream.port, { bounds });
  await listener.until('ready');
  const frame = new Uint8Array(1_536);
  for (let time = 0; time < 3; time += 1) {
    // As when the kernel takes nothing more.
    socket.cork();
    assert.ok(overfill(() => call.audio(frame)) < 1_000, 'it is full');
    socket.uncork();
    while (listener.types.at(-1) !== 'failed' && !call.audio(frame)) await sleep(5);
    await sleep(2_100);
  }
  assert.deepEqual(listener.types, ['ready']);
  assert.equal(call.droppedFrames >= 3, true);
  call.close(0);
  await listener.until('ended');
});

/** How many more are taken until one is not. */
function overfill(push: () => boolean): number {
  for (let taken = 0; taken < 1_000; taken += 1) if (!push()) return taken;
  return 1_000;
}
