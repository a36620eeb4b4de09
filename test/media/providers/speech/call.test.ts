// Calls of speech and transcription: deadlines, pauses, aborts, and failures by their kind.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UpstreamFailure } from '../../../../media/model/events.ts';
import type { UpstreamDeadlines } from '../../../../media/providers/generation/contract.ts';
import { type AudioClient, createAudioClient } from '../../../../media/providers/speech/call.ts';
import { openaiAudio } from '../../../../media/providers/speech/openai-audio/family.ts';
import { type AudioProvider, piece, startAudioProvider } from '../../../harness/audio-provider.ts';
import { countingServer } from '../../../harness/counting-server.ts';

let provider: AudioProvider;
let client: AudioClient;
before(async () => {
  provider = await startAudioProvider({ kind: 'stall' });
  client = createAudioClient({ connectionsMax: 8 });
});
after(async () => {
  await client.close();
  provider.close();
});
beforeEach(() => {
  provider.first = [];
});

const generous = {
  queueMs: 0,
  connectMs: 60_000,
  firstEventMs: 60_000,
  idleMs: 60_000,
  totalMs: 60_000,
};
const request = { input: 'x', voice: 'a', instructions: null, format: 'mp3' as const, speed: null };

interface Heard {
  bytes: number;
  times: number[];
  handle: ReturnType<AudioClient['start']>;
  ended: Promise<UpstreamFailure | null>;
  isOver: boolean;
}

function call(deadlines: Partial<UpstreamDeadlines> = {}, baseUrl = provider.url): Heard {
  const target = { routeId: 'r', family: 'x', baseUrl, apiKey: null, upstreamModel: 'm' };
  const heard = { bytes: 0, times: [] as number[], isOver: false };
  let handle: Heard['handle'] | undefined;
  const ended = new Promise<UpstreamFailure | null>((resolve) => {
    const encoded = openaiAudio.encodeSpeech(request, 'v', target);
    handle = client.start(
      openaiAudio,
      encoded,
      { ...generous, ...deadlines },
      {
        bytes(bytes) {
          heard.bytes += bytes.length;
          heard.times.push(performance.now());
        },
        ended(failure) {
          assert.ok(!heard.isOver, 'ended once');
          heard.isOver = true;
          resolve(failure);
        },
      },
    );
  });
  assert.ok(handle !== undefined);
  return Object.assign(heard, { handle, ended });
}

test('bytes come as they are sent, and the end after them', async () => {
  provider.first = [{ kind: 'audio', pieces: 5, pauseMs: 100 }];
  const heard = call();
  assert.equal(await heard.ended, null);
  assert.equal(heard.bytes, 5 * piece.length);
  assert.ok((heard.times.at(-1) ?? 0) - (heard.times[0] ?? 0) > 100);
});

test('chunks of one byte are told by the read, not one by one: a mailbox is bounded', async () => {
  const count = 5_000;
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(`${head}${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const heard = call({}, `http://127.0.0.1:${address.port}/v1`);
  assert.equal(await heard.ended, null);
  server.close();
  assert.equal(heard.bytes, count);
  assert.ok(heard.times.length <= 100, `${heard.times.length} reports`);
});

test('every failure has its kind', async () => {
  const kinds: [AudioProvider['behaviour'], UpstreamFailure['kind']][] = [
    [{ kind: 'status', status: 429 }, 'busy'],
    [{ kind: 'status', status: 400 }, 'rejected'],
    [{ kind: 'status', status: 401 }, 'failed'],
    [{ kind: 'status', status: 408 }, 'timeout'],
    [{ kind: 'hangUp' }, 'connect'],
    [{ kind: 'audio', pieces: 1, pauseMs: 30, cut: true }, 'cut'],
    [{ kind: 'stall' }, 'timeout'],
    [{ kind: 'audio', pieces: 2, pauseMs: 3_000 }, 'timeout'],
  ];
  for (const [behaviour, kind] of kinds) {
    // Who hangs up on a kept connection is asked once more.
    provider.first = [behaviour, ...(kind === 'connect' ? [behaviour] : [])];
    const deadlines = kind === 'timeout' ? { firstEventMs: 400, idleMs: 300 } : {};
    const failure = await call(deadlines).ended;
    assert.equal(failure?.kind, kind, JSON.stringify(behaviour));
  }
  assert.equal((await call({}, 'http://127.0.0.1:9/v1').ended)?.kind, 'connect');
});

test('a whole call has a bound, however often something comes', async () => {
  provider.first = [{ kind: 'audio', pieces: 400, pauseMs: 50 }];
  const failure = await call({ totalMs: 1_500 }).ended;
  assert.equal(failure?.kind, 'timeout');
});

test('a pause stops the bytes and no deadline but the last, and nothing is lost', async () => {
  const pieces = 600;
  provider.first = [{ kind: 'audio', pieces }];
  const heard = call({ idleMs: 1_500 });
  while (heard.bytes === 0) await sleep(1);
  heard.handle.pause();
  await sleep(30);
  const before = heard.bytes;
  await sleep(2_500);
  assert.equal(heard.bytes, before);
  assert.ok(before < pieces * piece.length);
  heard.handle.resume();
  assert.equal(await heard.ended, null);
  assert.equal(heard.bytes, pieces * piece.length);
});

test('after an abort nothing is reported, and the provider sees it', async () => {
  provider.first = [{ kind: 'audio', pieces: 50, pauseMs: 20 }];
  const heard = call();
  while (heard.bytes === 0) await sleep(1);
  heard.handle.abort();
  const before = heard.bytes;
  await sleep(150);
  assert.equal(heard.bytes, before);
  assert.equal(heard.isOver, false);
  const deadline = performance.now() + 30_000;
  while (provider.asked.at(-1)?.isAborted !== true) {
    assert.ok(performance.now() < deadline, 'the provider sees it');
    await sleep(10);
  }
});

test('a kept connection that its server closes under a request costs no speech', async () => {
  const { server, url, seen } = await countingServer((socket, number) => {
    if (number === 2) socket.destroy();
    else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc');
  });
  assert.equal(await call({}, url).ended, null);
  await sleep(20);
  const heard = call({}, url);
  assert.equal(await heard.ended, null);
  assert.equal(heard.bytes, 3);
  assert.deepEqual(seen, [1, 1, 2]);
  server.close();
});
