// The deadlines of a session to the millisecond, by a clock of the test's own.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { stoodStill, watch } from '../../../actors/voice/session.ts';
import type { TestAccount } from '../../harness/account.ts';
import { type FakeClient, sound } from './fakes.ts';
import { stagesOfFile, type VoiceStage } from './stage.ts';

const open = stagesOfFile();
let stage: VoiceStage;
let account: TestAccount;
before(async () => {
  // Models that think for minutes, so that nothing else ends a session first.
  stage = await open({ stalledMs: 300_000 });
  account = await stage.account();
});

const reasonOf = (client: FakeClient) => client.of('session.ended')[0]?.reason;

type Moment = 'openedMs' | 'acceptedMs' | 'lastSoundMs' | 'lastWordMs' | 'awaitedSinceMs';

/** Looks so long after a moment, which is made whole: sums of others are not exact. */
function lookAfter({ session }: FakeClient, moment: Moment, ms: number): void {
  const atMs = Math.floor(session[moment] ?? 0);
  session[moment] = atMs;
  watch(session, atMs + ms);
}

test('a start message has five seconds', async () => {
  const client = stage.connect(account);
  lookAfter(client, 'openedMs', 5_000);
  assert.equal(client.ended, null);
  lookAfter(client, 'openedMs', 5_001);
  assert.deepEqual(client.types(), ['error start_timeout']);
  await stage.over(client);
});

test('an upstream has a quarter of a minute to be ready', async () => {
  const client = await stage.starting(account);
  lookAfter(client, 'acceptedMs', 15_000);
  assert.equal(client.ended, null);
  lookAfter(client, 'acceptedMs', 15_001);
  assert.deepEqual(client.types(), ['connecting', 'error upstream_error']);
  await stage.over(client);
});

test('who interrupts is answered until the end was told, but behind a fatal error', async () => {
  const longest = await stage.live(account);
  const lost = await stage.live(account);
  for (const { call } of [longest, lost]) {
    assert.ok(call !== null);
    call.endsAtOnce = false;
    call.says({ type: 'answer_started', itemId: 'a' }, sound('a', 1_000));
  }
  watch(longest.session, longest.session.endsAtMs);
  for (let mistake = 0; mistake < 4; mistake += 1) lost.send('{}');
  for (const client of [longest, lost]) {
    assert.equal(client.session.phase, 'ending');
    client.forget();
    client.send({ type: 'barge_in' });
    client.send({ type: 'end' });
  }
  assert.deepEqual(longest.types(), ['playback.clear']);
  assert.deepEqual(lost.types(), []);
  for (const client of [longest, lost]) {
    client.call?.says({ type: 'ended' });
    await stage.over(client);
  }
});

test('the longest duration, going away and silence end at their moment, not before', async () => {
  const longest = await stage.live(account);
  longest.session.lastSoundMs = longest.session.endsAtMs;
  watch(longest.session, longest.session.endsAtMs - 1);
  assert.equal(longest.session.phase, 'live');
  watch(longest.session, longest.session.endsAtMs);
  await stage.over(longest);
  assert.equal(reasonOf(longest), 'max_duration');

  const leaving = await stage.live(account);
  leaving.call?.says({ type: 'going_away', leftMs: 10_000 });
  watch(leaving.session, leaving.session.leaveAtMs - 1);
  assert.equal(leaving.session.phase, 'live');
  watch(leaving.session, leaving.session.leaveAtMs);
  await stage.over(leaving);
  assert.equal(reasonOf(leaving), 'upstream_closed');

  const silent = await stage.live(account);
  lookAfter(silent, 'lastSoundMs', 60_000);
  assert.equal(silent.session.phase, 'live');
  lookAfter(silent, 'lastSoundMs', 60_001);
  await stage.over(silent);
  assert.equal(reasonOf(silent), 'idle_timeout');
});

test('who waits for an answer that is thought about is not idle', async () => {
  const client = await stage.live(account);
  client.call?.says({ type: 'answer_started', itemId: 'a' });
  lookAfter(client, 'lastSoundMs', 61_000);
  assert.equal(client.session.phase, 'live');
  client.call?.says({ type: 'answer_done', outcome: 'completed' });
  lookAfter(client, 'lastSoundMs', 60_001);
  await stage.over(client);
  assert.equal(reasonOf(client), 'idle_timeout');
});

test('an upstream that waits for its answer to be heard has not stalled', async () => {
  const stage = await open({ stalledMs: 30_000 });
  const client = await stage.live(await stage.account());
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 60_000));
  lookAfter(client, 'lastWordMs', 30_001);
  assert.equal(client.session.phase, 'live');
  client.send({ type: 'barge_in' });
  client.call?.says({ type: 'answer_started', itemId: 'b' });
  lookAfter(client, 'lastWordMs', 29_999);
  assert.equal(client.session.phase, 'live');
  lookAfter(client, 'lastWordMs', 30_000);
  await stage.over(client);
  assert.equal(reasonOf(client), 'upstream_closed');
});

test('an answer that nobody begins is awaited for a quarter of a minute', async () => {
  const client = await stage.live(account);
  client.forget();
  client.call?.says({ type: 'speech_started' }, { type: 'speech_stopped' });
  lookAfter(client, 'awaitedSinceMs', 14_999);
  assert.deepEqual(client.types(), ['thinking']);
  lookAfter(client, 'awaitedSinceMs', 15_000);
  assert.deepEqual(client.types(), ['thinking', 'listening']);
  await stage.leave(client);
});

test('a client may be five seconds behind', async () => {
  const client = await stage.live(account);
  client.bufferedBytes = 48 * 5_000;
  watch(client.session, performance.now());
  assert.equal(client.session.phase, 'live');
  assert.equal(stage.host.counters.lagMs, 5_000);
  client.bufferedBytes += 2;
  watch(client.session, performance.now());
  assert.equal(client.of('error')[0]?.code, 'slow_consumer');
  await stage.over(client);
});

test('a standstill moves everything that waits, and nothing beyond the present', async () => {
  const client = await stage.live(account);
  const { session } = client;
  const { funds, frames } = session;
  const nowMs = performance.now();
  const agoMs = nowMs - 20_000;
  const past = { openedMs: agoMs, acceptedMs: agoMs, lastSoundMs: agoMs, lastWordMs: agoMs };
  const late = { text: 'word', atMs: agoMs };
  Object.assign(session, { ...past, awaitedSinceMs: agoMs, late, endDueMs: nowMs });
  funds.uncoveredAtMs = agoMs;
  frames.levelMs = 0;
  const all = () => {
    const { openedMs, acceptedMs, lastSoundMs, lastWordMs, awaitedSinceMs } = session;
    const others = [awaitedSinceMs, session.late?.atMs, funds.uncoveredAtMs];
    return new Set([openedMs, acceptedMs, lastSoundMs, lastWordMs, ...others]);
  };
  stoodStill(session, 15_000, nowMs);
  assert.deepEqual(all(), new Set([agoMs + 15_000]));
  assert.equal(session.endDueMs, nowMs + 15_000);
  assert.equal(frames.levelMs, frames.capacityMs + 15_000);
  frames.levelMs = 0;
  stoodStill(session, 3_600_000, nowMs);
  assert.deepEqual(all(), new Set([nowMs]));
  assert.equal(frames.levelMs, frames.capacityMs + 60_000, 'no client has kept an hour');
  await stage.leave(client);
});

test('a steady tone is a sound, at any pitch', async () => {
  const client = await stage.live(account);
  const frame = new Int16Array(512);
  for (let pitchHz = 250; pitchHz < 8_000; pitchHz += 250) {
    client.session.lastSoundMs -= 2_000;
    const before = client.session.lastSoundMs;
    // The same samples again and again: whole periods fill a frame.
    const wave = (_: number, index: number) =>
      10_000 * Math.sin((2 * Math.PI * pitchHz * index) / 16_000);
    client.handlers.message(frame.map(wave).buffer, true);
    assert.ok(client.session.lastSoundMs > before, `${pitchHz} Hz`);
  }
  await stage.leave(client);
});
