// Deadlines of upstream calls while this thread stands still: what a provider has said meanwhile
// is read before anybody calls it late, and the time that we stood still is not its own.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { ModelEvent, UpstreamFailure } from '../../../../media/model/events.ts';
import { createUpstreamClient } from '../../../../media/providers/generation/call.ts';
import { openaiChat } from '../../../../media/providers/generation/openai-chat/family.ts';
import { probeTarget } from '../../../../media/providers/generation/probe.ts';
import { createSearchClient } from '../../../../media/providers/search/call.ts';
import { createAudioClient } from '../../../../media/providers/speech/call.ts';
import { openaiAudio } from '../../../../media/providers/speech/openai-audio/family.ts';
import { chatSource, neutralRequest } from '../../../harness/request.ts';
import { searchAsk } from '../../../harness/search-surface.ts';
import { standStill } from '../../../harness/standstill.ts';
import { startSteadyServer } from '../../../harness/steady-server.ts';
import {
  created,
  delta,
  done,
  sessionUpdated,
  usageEvent,
} from '../live/openai-realtime/fixtures.ts';
import { openCall, send, stopUpstreams, upstreamOf } from '../live/session.ts';
import { pcm } from '../live/streams.ts';

// slow: It waits for the deadlines of a provider in real time.

afterEach(stopUpstreams);

const stoodMs = 3_000;
const deadlines = {
  queueMs: 60_000,
  connectMs: 60_000,
  firstEventMs: 60_000,
  idleMs: 2_000,
  totalMs: 60_000,
};
const head = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n';
const chunk = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

const targetAt = (port: number) => ({
  routeId: 'r',
  family: 'x',
  baseUrl: `http://127.0.0.1:${port}/v1`,
  apiKey: null,
  upstreamModel: 'm',
});

function outcome() {
  let resolve: (failure: UpstreamFailure | null) => void = () => {};
  const promise = new Promise<UpstreamFailure | null>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}

function startText(port: number) {
  const client = createUpstreamClient({ connectionsMax: 1 });
  const request = neutralRequest({
    source: chatSource({ messages: [{ role: 'user', content: '' }] }),
  });
  const options = { outputTokensMax: 100, nativeSearch: false };
  const call = openaiChat.encodeRequest(request, targetAt(port), options);
  const ask = () => {
    let text = '';
    let begun = () => {};
    const beginning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { promise, resolve } = outcome();
    const handle = client.start(openaiChat, call, deadlines, {
      events: (read: ModelEvent[]) => {
        for (const each of read) if (each.type === 'text') text += each.text;
        begun();
      },
      ended: resolve,
    });
    return { handle, beginning, ended: promise, text: () => text };
  };
  return { ask, close: () => client.close() };
}

test('a stream that went on while we stood still is no silent one', async () => {
  const server = await startSteadyServer([
    { afterMs: 0, text: head + chunk('a') },
    { afterMs: 500, text: chunk('b') + end },
  ]);
  const client = startText(server.port);
  const { handle, beginning, ended, text } = client.ask();
  try {
    await beginning;
    await standStill(stoodMs);
    assert.equal(await ended, null);
    assert.equal(text(), 'ab');
    assert.ok(handle.ownMs > stoodMs / 2, `${handle.ownMs} ms were not the provider's`);
  } finally {
    await client.close();
    await server.close();
  }
});

test('a route whose probe was answered while we stood still is well', async () => {
  const server = await startSteadyServer([
    { afterMs: 500, text: 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}' },
  ]);
  try {
    const asked = server.asked();
    const probed = probeTarget({ ...targetAt(server.port), family: 'openai-chat' }, 2_000);
    await asked;
    await standStill(stoodMs);
    assert.equal((await probed).failure, null);
  } finally {
    await server.close();
  }
});

test('a search that was answered while we stood still has its results', async () => {
  const client = createSearchClient({ connectionsMax: 1 });
  const body = '{"organic":[{"title":"t","link":"https://example.com/","snippet":"s"}]}';
  const server = await startSteadyServer([
    { afterMs: 500, text: `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}` },
  ]);
  try {
    const asked = server.asked();
    const { signal } = new AbortController();
    const found = client.search({ ...targetAt(server.port), family: 'serper' }, searchAsk('q'), {
      deadlineMs: 8_000,
      signal,
    });
    await asked;
    await standStill(9_000);
    const outcome = await found;
    assert.equal('items' in outcome && outcome.items.length, 1);
  } finally {
    await client.close();
    await server.close();
  }
});

test('speech that went on while we stood still is no silent one', async () => {
  const server = await startSteadyServer([
    { afterMs: 0, text: `${head}a` },
    { afterMs: 500, text: 'b' },
  ]);
  const client = createAudioClient({ connectionsMax: 1 });
  const request = {
    input: 'x',
    voice: 'a',
    instructions: null,
    format: 'mp3',
    speed: null,
  } as const;
  let text = '';
  let change = () => {};
  const changed = () =>
    new Promise<void>((resolve) => {
      change = resolve;
    });
  const failures: (UpstreamFailure | null)[] = [];
  const first = changed();
  const call = openaiAudio.encodeSpeech(request, 'v', targetAt(server.port));
  const handle = client.start(openaiAudio, call, deadlines, {
    bytes: (bytes) => {
      text += Buffer.from(bytes).toString();
      change();
    },
    ended: (failure) => {
      failures.push(failure);
      change();
    },
  });
  try {
    await first;
    const second = changed();
    await standStill(stoodMs);
    await second;
    assert.equal(text, 'ab');
    assert.deepEqual(failures, []);
    assert.ok(handle.ownMs > stoodMs / 2, `${handle.ownMs} ms were not the provider's`);
  } finally {
    await client.close();
    await server.close();
  }
});

test('a live session that was set up while we stood still is ready', async () => {
  const upstream = await upstreamOf({
    message: (socket, { type }) => {
      if (type !== 'session.update') return;
      send(socket, sessionUpdated());
      void standStill(stoodMs);
    },
  });
  const { call, listener } = openCall(upstream.port, { deadlines: { readyMs: 2_000 } });
  await listener.until('ready');
  assert.deepEqual(listener.types, ['ready']);
  call.close(0);
});

test('usage that came while we stood still is told before the end', async () => {
  const sound = delta('item_1', pcm(100));
  const upstream = await upstreamOf({
    message: (socket, { type }) => {
      if (type === 'session.update') send(socket, sessionUpdated(), created(), sound);
      if (type !== 'response.cancel') return;
      send(socket, done());
      void standStill(stoodMs);
    },
  });
  const { call, listener } = openCall(upstream.port);
  await listener.until('audio');
  call.close(2_000);
  await listener.until('ended');
  assert.deepEqual(listener.told.slice(-2), [usageEvent, { type: 'ended' }]);
});
