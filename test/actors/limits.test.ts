// The bounds that the contract names (decisions.md): clients and acceptance rely on them, and no
// other test can wait for a day. They stand here as the contract has them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLimits } from '../../actors/limits.ts';
import { readConfig } from '../../runtime/config.ts';
import { effectiveBytesMax, fixedLimits } from '../../runtime/limits.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const kib = 1_024;
const mib = 1_024 * kib;
const limits = createLimits(readConfig({}));

test('times are those of the contract', () => {
  const { generation, http, ledger, instance, voice, monitor, database, process } = limits;
  assert.equal(generation.idempotencyMs, 24 * hourMs, 'idempotency keys are kept');
  assert.equal(generation.storedMs, 24 * hourMs, 'responses are kept');
  assert.equal(limits.audio.keptMs, 24 * hourMs, 'speech under a key is kept');
  assert.equal(http.headerHoldbackMs, 10_000);
  assert.equal(http.keepAliveMs, 15_000);
  assert.equal(ledger.holdExpiryMs, 15 * minuteMs);
  assert.equal(ledger.orphanAfterMs, minuteMs);
  assert.equal(instance.leaseMs, 15_000);
  assert.equal(voice.holdMarginMs, 2 * minuteMs, 'beyond the duration of a session');
  assert.equal(voice.startMs, 5_000);
  assert.equal(voice.earlyAudioMs, 2_000);
  assert.equal(voice.ticketMs, minuteMs);
  assert.equal(voice.continuationMs, 10 * minuteMs);
  assert.equal(monitor.firstSnapshotMs, 10_000);
  assert.equal(monitor.probeMs, 5 * minuteMs, 'as long as the status is cached');
  assert.equal(database.healthTimeoutMs, 1_000);
  assert.equal(process.drainMs, 30_000);
  assert.equal(limits.passwords.waitMs, 3_000, 'for a thread that hashes');
});

test('sizes and counts are those of the contract', () => {
  const { body, http, voice, audio, keys, generation } = limits;
  assert.equal(body.jsonBytesMax, mib);
  assert.equal(body.largeBytesMax, 8 * mib);
  assert.equal(audio.transcriptionBytesMax, 3 * mib + 64 * kib);
  assert.equal(http.headerBytesMax, 16 * kib);
  assert.deepEqual([keys.requestsPerMinute, keys.concurrencyMax], [600, 64]);
  assert.equal(generation.sliceTokens, 1_024);
  assert.equal(voice.frameBytes, 1_024);
  assert.equal(voice.startBytesMax, 32 * kib);
  assert.equal(voice.malformedMax, 3, 'the fourth is fatal');
  assert.deepEqual([limits.passwords.threadsMax, limits.passwords.queueLengthMax], [1, 64]);
  assert.equal(audio.charactersMax, 4_096);
  assert.equal(audio.fileBytesMax, 3 * mib);
  assert.equal(audio.secondsMax, 120);
});

test('a route class has its configured bound, and no other class moves with it', () => {
  const env = { TOLLGATE_JSON_BYTES_MAX: '2048', TOLLGATE_GENERATION_BYTES_MAX: '4096' };
  const configured = createLimits(readConfig(env));
  const { jsonBytesMax, largeBytesMax } = fixedLimits.body;
  const { transcriptionBytesMax } = limits.audio;
  assert.equal(effectiveBytesMax(jsonBytesMax, configured), 2_048);
  assert.equal(effectiveBytesMax(largeBytesMax, configured), 4_096);
  assert.equal(effectiveBytesMax(transcriptionBytesMax, configured), transcriptionBytesMax);
});
