// The actor of a speech, with upstream calls and a ledger of the test's own: what was sent before
// the hold is durable, and to which of two calls it belongs.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import * as v from 'valibot';
import { createAudioKind } from '../../../actors/audio/audio.ts';
import { AudioReplySink } from '../../../actors/audio/reply-sink.ts';
import type { AudioDeps, AudioSpec } from '../../../actors/audio/spec.ts';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import { createFileBlobStore } from '../../../media/blobs/file-store.ts';
import type { AudioFamily, AudioListener } from '../../../media/providers/speech/contract.ts';
import { requireAudioFamily } from '../../../media/providers/speech/families.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { newId } from '../../../runtime/ids.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { TransientMap } from '../../../runtime/transient.ts';
import { piece } from '../../harness/audio-provider.ts';
import { FakeCalls, FakeWallet, fakeRequestDeps, turns } from '../../harness/request-deps.ts';

const names = ['one', 'two', 'three'];
const document = v.parse(catalogDocumentSchema, {
  providers: names.map((name) => ({ name, family: 'openai-audio', base_url: 'http://a.example' })),
  models: [
    {
      alias: 'say',
      kind: 'speech',
      routes: names.map((provider) => ({ provider, upstream_model: 'm' })),
      price: { per_1k_characters: '0.015' },
      voices: { alloy: 'upstream-alloy' },
    },
    {
      alias: 'hear',
      kind: 'transcription',
      routes: names.map((provider) => ({ provider, upstream_model: 'm' })),
      price: { per_audio_minute: '0.006' },
    },
  ],
});
const [model, hearing] = buildSnapshot(document, () => 0).models;
assert.ok(model !== undefined && hearing !== undefined);

const wallet = new FakeWallet();
let calls: FakeCalls<AudioListener>;
let sink: AudioReplySink;
let broken: Partial<AudioFamily> = {};
const folder = await mkdtemp(join(tmpdir(), 'tollgate-audio-'));
after(() => rm(folder, { recursive: true, force: true }));
const sealers = [createSealer(randomBytes(32).toString('base64url'))] as const;
const deps: AudioDeps = {
  ...fakeRequestDeps(wallet),
  upstream: { start: (...args) => calls.start(...args), close: () => calls.close() },
  family: (name) => ({ ...requireAudioFamily(name), ...broken }),
  blobs: createFileBlobStore({ folder, sealers, node: 1 }),
  running: new TransientMap(),
};
const kind = createAudioKind(deps);
const log = { info: () => {}, warn: () => {}, error: () => {} };
const system = createActorSystem({ node: 1, kinds: [kind], log });
after(() => system.stop(0));

beforeEach(() => {
  calls = new FakeCalls();
  broken = {};
  sink = new AudioReplySink(1_000_000);
});

/** Whether it was started. */
async function speak(change: Partial<AudioSpec> = {}): Promise<boolean> {
  assert.ok(model !== undefined);
  const id = newId('req', 1);
  const request = { input: 'hello', voice: 'alloy', instructions: null, speed: null };
  const spec: AudioSpec = {
    id,
    exchangeId: 'exchange',
    accountId: 'account',
    walletId: wallet.id,
    apiKeyId: null,
    route: '/v1/audio/speech',
    idempotencyKey: null,
    fingerprint: '',
    createdAtMs: Date.now(),
    releasePermit: () => {},
    model,
    targets: model.targets,
    work: { kind: 'speech', request: { ...request, format: 'mp3' }, characters: 5 },
    sink,
    ...change,
  };
  const actor = system.spawn(kind, id, spec);
  await turns();
  return actor !== null;
}

const held = () => ({ status: 'held', availableMicros: 1_000_000_000n }) as const;
const settled = () => ({ status: 'settled', chargedMicros: 1n, shortfallMicros: 0n }) as const;
const nonsense = Buffer.from('{"error":"no audio"}');

test('the end of a call that was no audio is not the end of the one that follows it', async () => {
  await speak();
  const first = calls.at(0).listener;
  first.bytes(nonsense);
  first.bytes(nonsense);
  first.ended(null);
  await turns();
  await wallet.answer('hold', held);
  assert.equal(calls.made.length, 2, 'the second route is called, and the third is not');
  assert.equal(calls.at(1).isAborted, false);
  const second = calls.at(1).listener;
  second.bytes(piece);
  await turns();
  assert.deepEqual(await sink.opening, { kind: 'audio' });
  second.ended(null);
  await turns();
  await wallet.answer('settle', settled);
  assert.equal(deps.running.size, 0);
});

test('audio that came before the hold is read on as the client takes it', async () => {
  sink = new AudioReplySink(piece.length);
  await speak();
  calls.at(0).listener.bytes(piece);
  await turns();
  assert.equal(calls.at(0).isPaused, true, 'until the hold is durable');
  await wallet.answer('hold', held);
  assert.deepEqual(await sink.opening, { kind: 'audio' });
  assert.equal(calls.at(0).isPaused, true, 'until the client has taken what was written');
  sink.clientGone();
  await turns();
  await wallet.answer('settle', settled);
});

test('the place is free before the reply is whole', async () => {
  const order: string[] = [];
  await speak({ releasePermit: () => void order.push('place') });
  sink.connect({
    write: () => true,
    end: () => order.push('end'),
    fail: () => order.push('fail'),
    onDrain: () => {},
    onClose: () => {},
    closed: false,
  });
  calls.at(0).listener.bytes(piece);
  await turns();
  await wallet.answer('hold', held);
  calls.at(0).listener.ended(null);
  await turns();
  assert.deepEqual(order, []);
  await wallet.answer('settle', settled);
  assert.deepEqual(order.slice(0, 2), ['place', 'end']);
});

/** Sound that is more than a reply may have, in pieces that are one and the same memory. */
const half = Buffer.concat([piece.subarray(0, 4), Buffer.alloc(32 * 1_024 * 1_024)]);

test('a signature that comes byte by byte is one', async () => {
  await speak();
  await wallet.answer('hold', held);
  for (const byte of piece.subarray(0, 3)) calls.at(0).listener.bytes(Buffer.of(byte));
  await turns();
  assert.equal(calls.made.length, 1);
  const told: Uint8Array[] = [];
  sink.connect({
    write: (bytes) => told.push(bytes) > 0,
    end: () => {},
    fail: () => {},
    onDrain: () => {},
    onClose: () => {},
    closed: false,
  });
  calls.at(0).listener.bytes(piece.subarray(3));
  await turns();
  assert.deepEqual(Buffer.concat(told), piece);
  sink.clientGone();
  await turns();
  await wallet.answer('settle', settled);
});

test('speech without end is cut, and costs nothing', async () => {
  wallet.sent.length = 0;
  await speak();
  await wallet.answer('hold', held);
  calls.at(0).listener.bytes(half);
  await turns();
  assert.equal(calls.at(0).isAborted, false);
  calls.at(0).listener.bytes(half);
  await turns();
  assert.equal(calls.at(0).isAborted, true);
  assert.deepEqual(wallet.sent, ['hold', 'release']);
  await wallet.answer('release', () => ({ status: 'released' }));
});

test('a transcript without end is none: the next provider is asked', async () => {
  const request = { bytes: Buffer.alloc(8), container: 'wav' as const, language: null };
  const work = { kind: 'transcription' as const, request, seconds: 2 };
  assert.ok(hearing !== undefined);
  await speak({ model: hearing, targets: hearing.targets, work });
  await wallet.answer('hold', held);
  const text = Buffer.from(JSON.stringify({ text: 'x'.repeat(1_024 * 1_024) }));
  calls.at(0).listener.bytes(text.subarray(0, 1_024 * 1_024));
  await turns();
  assert.equal(calls.at(0).isAborted, false);
  calls.at(0).listener.bytes(text.subarray(1_024 * 1_024));
  await turns();
  assert.equal(calls.at(0).isAborted, true);
  calls.at(1).listener.bytes(Buffer.from('{"text":"heard"}'));
  calls.at(1).listener.ended(null);
  await turns();
  await wallet.answer('settle', settled);
  assert.deepEqual(await sink.opening, { kind: 'transcript', text: 'heard', seconds: 2 });
});

test('audio that goes on for its key waits for no client that has gone', async () => {
  sink = new AudioReplySink(piece.length);
  await speak({ idempotencyKey: 'key', fingerprint: 'f' });
  await wallet.answer('hold', held);
  calls.at(0).listener.bytes(piece);
  await turns();
  assert.equal(calls.at(0).isPaused, true, 'the client has not taken it');
  sink.clientGone();
  await turns();
  assert.equal(calls.at(0).isPaused, false);
  calls.at(0).listener.ended(null);
  while (wallet.sent.at(-1) !== 'settle') await turns();
  await wallet.answer('settle', settled);
});

test('a probe whose client goes is given back', async () => {
  const health = createRouteHealth();
  Object.assign(deps, { health });
  assert.ok(model !== undefined);
  const [target] = model.targets;
  const routeId = target?.routeId ?? '';
  const failure = { kind: 'failed', status: 500, retryAfterMs: null, detail: '' } as const;
  for (let count = 0; count < 5; count += 1) health.failed(routeId, failure, Date.now() - 20_000);
  assert.equal(health.stats(routeId, Date.now()).state, 'half-open');
  await speak({ targets: model.targets.slice(0, 1) });
  assert.equal(health.started(routeId, Date.now()), null, 'one probe at a time');
  sink.clientGone();
  await wallet.answer('hold', held);
  await wallet.answer('release', () => ({ status: 'released' }));
  assert.notEqual(health.started(routeId, Date.now()), null);
});

test('what cannot be priced is not started, and its key keeps its place', async () => {
  assert.ok(model !== undefined);
  const released: string[] = [];
  const releasePermit = () => void released.push('place');
  const card = null as never;
  assert.equal(await speak({ model: { ...model, card }, releasePermit }), false);
  assert.deepEqual([released, deps.running.size], [[], 0], 'whoever spawns still has it');
});

test('a request that cannot be encoded gives its hold and its place back', async () => {
  const released = new Set<string>();
  const releasePermit = () => void released.add('place');
  broken.encodeSpeech = () => {
    throw new Error('a bug');
  };
  wallet.sent.length = 0;
  assert.equal(await speak({ releasePermit }), true);
  const opening = await sink.opening;
  assert.ok(opening.kind === 'failed');
  assert.equal(opening.problem.code, 'internal');
  assert.deepEqual(wallet.sent, ['hold', 'release']);
  assert.deepEqual([released, deps.running.size], [new Set(['place']), 0]);
});
