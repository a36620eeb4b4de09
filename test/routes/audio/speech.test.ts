// Speech: passed through as it comes, bought from its first byte on, paid exactly once whatever
// happens to client and provider.
import assert from 'node:assert/strict';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import type { TestAccount } from '../../harness/account.ts';
import { piece } from '../../harness/audio-provider.ts';
import { type AudioBed, microsPerCharacter, openAudioBed, refusalOf, say, stateOf } from './bed.ts';

let audio: AudioBed;
before(async () => {
  audio = await openAudioBed();
});
after(() => audio.close());

const granted = 1_000_000_000n;

/** What the account has paid, once nothing is held. */
async function paid(account: TestAccount): Promise<bigint> {
  return granted - (await account.quiet()).availableMicros;
}

test('audio is passed through as it is, and costs its characters', async () => {
  const account = await audio.bed.account();
  audio.one.first = [{ kind: 'audio', pieces: 3 }];
  const body = { input: 'héllo 👋🏽', instructions: 'softly', speed: 1.5 };
  const reply = await say(audio, account, body);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'audio/mpeg');
  assert.deepEqual(Buffer.from(await reply.arrayBuffer()), Buffer.concat([piece, piece, piece]));
  const asked = audio.one.asked.at(-1);
  assert.equal(asked?.path, '/v1/audio/speech');
  assert.equal(asked?.authorization, 'Bearer audio-credential');
  assert.deepEqual(JSON.parse(asked?.body.toString() ?? ''), {
    model: 'upstream-model',
    input: body.input,
    voice: 'upstream-alloy',
    response_format: 'mp3',
    instructions: 'softly',
    speed: 1.5,
  });
  // Eight code points: the hand and its tone are two.
  assert.equal(await paid(account), 8n * microsPerCharacter);
  const requestId = reply.headers.get('x-svc-request-id') ?? '';
  const state = await stateOf(audio, account, requestId);
  assert.equal(state.status, 'completed');
  assert.equal(state.model, 'say');
  const usage = state.svc_usage as Record<string, unknown>;
  assert.equal(usage.charge_microcredits, Number(8n * microsPerCharacter));
  assert.deepEqual([usage.source, usage.simulated], ['reported', false]);
});

test('wav is another media type, and the alias of the path the same route', async () => {
  const account = await audio.bed.account();
  audio.one.first = [{ kind: 'audio' }];
  const options = { path: '/api/v1/audio/speech' };
  const reply = await say(audio, account, { response_format: 'wav', voice: 'nova' }, options);
  assert.equal(reply.headers.get('content-type'), 'audio/wav');
  const bytes = Buffer.from(await reply.arrayBuffer());
  assert.equal(bytes.subarray(0, 4).toString(), 'RIFF');
});

test('the first bytes are there long before the last', async () => {
  const account = await audio.bed.account();
  audio.one.first = [{ kind: 'audio', pieces: 5, pauseMs: 500 }];
  const reply = await say(audio, account, {});
  const times: number[] = [];
  assert.ok(reply.body !== null);
  for await (const _ of reply.body) times.push(performance.now());
  const apartMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  assert.ok(apartMs > 500, `${apartMs} ms from the first to the last`);
});

test('requests that are wrong are refused before anything is asked or held', async () => {
  const account = await audio.bed.account();
  const before = audio.one.asked.length;
  const refusals: [Record<string, unknown>, number, string, string | null][] = [
    [{ input: '' }, 400, 'invalid_request', 'input'],
    [{ input: 'a'.repeat(4_097) }, 422, 'input_too_long', 'input'],
    [{ input: '👋'.repeat(4_097) }, 422, 'input_too_long', 'input'],
    [{ instructions: 'a'.repeat(4_097) }, 422, 'input_too_long', 'instructions'],
    [{ voice: 'somebody' }, 400, 'invalid_request', 'voice'],
    [{ voice: 'cedar' }, 400, 'invalid_request', 'voice'],
    [{ speed: 0.249 }, 400, 'invalid_request', 'speed'],
    [{ speed: 4.001 }, 400, 'invalid_request', 'speed'],
    [{ response_format: 'opus' }, 400, 'invalid_request', 'response_format'],
    [{ stream_format: 'sse' }, 400, 'invalid_request', 'stream_format'],
    [{ model: 'nothing' }, 404, 'model_not_found', 'model'],
    [{ model: 'hear' }, 404, 'model_not_found', 'model'],
    [{ model: 'svc-sim-chat' }, 404, 'model_not_found', 'model'],
  ];
  for (const [body, status, code, param] of refusals) {
    const refusal = await refusalOf(await say(audio, account, body));
    assert.deepEqual([refusal.status, refusal.code, refusal.param], [status, code, param]);
  }
  assert.equal(audio.one.asked.length, before);
  assert.equal((await account.balance()).availableMicros, granted);
  const other = await audio.bed.account({ scopes: ['audio:transcribe'] });
  assert.equal((await refusalOf(await say(audio, other, {}))).code, 'insufficient_scope');
});

test('4,096 characters outside the basic plane are not too many', async () => {
  const account = await audio.bed.account();
  audio.one.first = [{ kind: 'audio' }];
  const reply = await say(audio, account, { input: '👋'.repeat(4_096) });
  assert.equal(reply.status, 200);
  await reply.arrayBuffer();
  assert.equal(await paid(account), 4_096n * microsPerCharacter);
});

test('the slowest and the fastest speech are spoken', async () => {
  const account = await audio.bed.account();
  for (const speed of [0.25, 4]) {
    audio.one.first = [{ kind: 'audio' }];
    const reply = await say(audio, account, { speed, model: 'say-one' });
    assert.equal(reply.status, 200);
    await reply.arrayBuffer();
    assert.equal(JSON.parse(audio.one.asked.at(-1)?.body.toString() ?? '').speed, speed);
  }
});

test('a wallet that does not cover the text is 402, and nothing is asked', async () => {
  const account = await audio.bed.account({ micros: 4n * microsPerCharacter });
  const before = audio.one.asked.length;
  const refusal = await refusalOf(await say(audio, account, { input: 'hello' }));
  assert.deepEqual([refusal.status, refusal.code], [402, 'insufficient_credits']);
  assert.equal(refusal.headers.get('x-svc-required-microcredits'), '7875');
  assert.equal(refusal.headers.get('x-should-retry'), 'false');
  assert.equal(audio.one.asked.length, before);
  audio.one.first = [{ kind: 'audio' }];
  const reply = await say(audio, account, { input: 'hell' });
  await reply.arrayBuffer();
  assert.equal((await account.quiet()).availableMicros, 0n);
});

test('a route that fails before the first byte is followed by the next one', async () => {
  for (const failure of [
    { kind: 'status', status: 500 } as const,
    { kind: 'status', status: 429 } as const,
    { kind: 'nonsense' } as const,
    { kind: 'empty' } as const,
    { kind: 'hangUp' } as const,
  ]) {
    const account = await audio.bed.account();
    audio.one.first = [failure];
    audio.two.first = [failure, { kind: 'audio', pieces: 1 }];
    const before = audio.two.asked.length;
    const replies = [await say(audio, account, {}), await say(audio, account, {})];
    const statuses = replies.map(({ status }) => status);
    assert.ok(statuses.includes(200), `${JSON.stringify(failure)}: ${statuses}`);
    for (const reply of replies) await reply.arrayBuffer();
    assert.ok(audio.two.asked.length > before);
    const heard = BigInt(statuses.filter((status) => status === 200).length);
    assert.equal(await paid(account), heard * 5n * microsPerCharacter);
    audio.one.first = [];
    audio.two.first = [];
  }
});

test('what no route gives costs nothing and says nothing of the provider', async () => {
  const account = await audio.bed.account();
  const cases = [
    [{ kind: 'status', status: 400 }, 400, 'invalid_request'],
    [{ kind: 'status', status: 401 }, 502, 'upstream_error'],
    [{ kind: 'nonsense' }, 502, 'upstream_error'],
    [{ kind: 'status', status: 408 }, 504, 'upstream_timeout'],
    [{ kind: 'status', status: 429 }, 503, 'upstream_busy'],
  ] as const;
  for (const [behaviour, status, code] of cases) {
    audio.one.first = [behaviour];
    const refusal = await refusalOf(await say(audio, account, { model: 'say-one' }));
    assert.deepEqual([refusal.status, refusal.code], [status, code]);
    assert.equal(refusal.headers.has('retry-after'), status > 502, 'when to come again');
    const state = await stateOf(audio, account, refusal.headers.get('x-svc-request-id') ?? '');
    assert.equal(state.status, 'failed');
  }
  assert.equal(await paid(account), 0n);
});

test('audio that the provider cuts is no whole reply, and costs nothing', async () => {
  const account = await audio.bed.account();
  audio.one.behaviour = { kind: 'audio', pieces: 2, pauseMs: 20, cut: true };
  audio.two.behaviour = audio.one.behaviour;
  const reply = await say(audio, account, {});
  assert.equal(reply.status, 200);
  await assert.rejects(reply.arrayBuffer());
  assert.equal(await paid(account), 0n);
  const state = await stateOf(audio, account, reply.headers.get('x-svc-request-id') ?? '');
  assert.equal(state.status, 'failed');
});

/** Leaves after so many milliseconds, or at the first byte. */
async function leave(
  account: TestAccount,
  whenMs: number | null,
  headers: Record<string, string> = {},
): Promise<void> {
  const controller = new AbortController();
  const asking = say(audio, account, {}, { headers, signal: controller.signal });
  if (whenMs === null) {
    const reply = await asking;
    await reply.body?.getReader().read();
  } else await sleep(whenMs);
  controller.abort();
  await asking.then(
    () => undefined,
    () => undefined,
  );
}

test('who leaves before the first byte pays nothing', async () => {
  const account = await audio.bed.account();
  audio.one.behaviour = { kind: 'audio', firstMs: 20_000 };
  audio.two.behaviour = audio.one.behaviour;
  await leave(account, 150);
  assert.equal(await paid(account), 0n);
  const asked = [...audio.one.asked, ...audio.two.asked].at(-1);
  assert.ok(asked !== undefined);
});

test('who leaves after the first byte pays', async () => {
  const account = await audio.bed.account();
  audio.one.behaviour = { kind: 'audio', pieces: 40, pauseMs: 25 };
  audio.two.behaviour = audio.one.behaviour;
  await leave(account, null);
  assert.equal(await paid(account), 5n * microsPerCharacter);
});

test('with a key the audio is read to its end, kept, and replayed without a charge', async () => {
  const account = await audio.bed.account();
  audio.one.behaviour = { kind: 'audio', pieces: 10, pauseMs: 250 };
  audio.two.behaviour = audio.one.behaviour;
  const headers = { 'idempotency-key': 'kept-1' };
  await leave(account, null, headers);
  const busy = await refusalOf(await say(audio, account, {}, { headers }));
  assert.deepEqual([busy.status, busy.code], [409, 'conflict']);
  assert.equal(busy.headers.get('retry-after'), '1');
  assert.equal(await paid(account), 5n * microsPerCharacter);
  const asked = audio.one.asked.length + audio.two.asked.length;
  const replies = await Promise.all([
    say(audio, account, {}, { headers }),
    say(audio, account, {}, { headers }),
  ]);
  const ids = new Set(replies.map((reply) => reply.headers.get('x-svc-request-id')));
  assert.equal(ids.size, 1);
  for (const reply of replies) {
    assert.equal(reply.headers.get('content-type'), 'audio/mpeg');
    const bytes = Buffer.from(await reply.arrayBuffer());
    assert.deepEqual(bytes, Buffer.concat(Array.from({ length: 10 }, () => piece)));
  }
  assert.equal(audio.one.asked.length + audio.two.asked.length, asked);
  assert.equal(await paid(account), 5n * microsPerCharacter);
  const other = await refusalOf(await say(audio, account, { input: 'bye' }, { headers }));
  assert.deepEqual([other.status, other.code], [422, 'idempotency_key_reused']);
  const kept = join(audio.bed.gateway.dataDir, 'blobs');
  const names = await readdir(kept);
  assert.ok(
    names.length > 0 && names.every((name) => /^blob_[a-f0-9]{24}$/.test(name)),
    `${names}`,
  );
  await access(kept);
});

test('what failed under a key may run again', async () => {
  const account = await audio.bed.account();
  const headers = { 'idempotency-key': 'again' };
  audio.one.first = [{ kind: 'status', status: 400 }];
  const body = { model: 'say-one' };
  const first = await refusalOf(await say(audio, account, body, { headers }));
  assert.equal(first.status, 400);
  audio.one.first = [{ kind: 'audio' }];
  const reply = await say(audio, account, body, { headers });
  assert.equal(reply.status, 200);
  await reply.arrayBuffer();
  assert.equal(await paid(account), 5n * microsPerCharacter);
});

test('a slow client is sent no more than it takes, and gets all of it', async () => {
  const account = await audio.bed.account();
  const pieces = 2_500;
  audio.one.first = [{ kind: 'audio', pieces }];
  audio.two.first = [{ kind: 'audio', pieces }];
  const reply = await say(audio, account, {});
  const reader = reply.body?.getReader();
  assert.ok(reader !== undefined);
  let bytes = 0;
  await sleep(300);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
  }
  assert.equal(bytes, pieces * piece.length);
  audio.one.first = [];
  audio.two.first = [];
  assert.equal(await paid(account), 5n * microsPerCharacter);
});

test('the official client speaks unpatched', async () => {
  const account = await audio.bed.account();
  audio.one.behaviour = { kind: 'audio', pieces: 3 };
  audio.two.behaviour = audio.one.behaviour;
  const client = new OpenAI({ apiKey: account.apiKey, baseURL: `${audio.bed.url}/v1` });
  const reply = await client.audio.speech.create({ model: 'say', voice: 'alloy', input: 'hello' });
  assert.equal((await reply.arrayBuffer()).byteLength, 3 * piece.length);
  await assert.rejects(
    client.audio.speech.create({ model: 'say', voice: 'alloy', input: 'a'.repeat(5_000) }),
    { status: 422, code: 'input_too_long', param: 'input' },
  );
});
