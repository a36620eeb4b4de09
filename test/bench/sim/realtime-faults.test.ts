// What the simulator's Realtime family does wrong when it is told to, seen by the vendor's client.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { eventually, post, statsOf } from './probe.ts';
import { beginTalk, rateHz, Talk } from './realtime-talk.ts';
import { pitchOf, spoken, tone } from './voice-probe.ts';

let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
});
after(() => sim.close());

/** A session that has heard a turn of 400 ms at 440 Hz. */
async function asked(directive: string): Promise<Talk> {
  const talk = await beginTalk(sim, `[[sim ${directive}]]`);
  talk.say(spoken(440, 400, rateHz));
  return talk;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test('usage is missing, zero, or late', async () => {
  const none = await asked('fault=no_usage');
  assert.equal((await none.done()).usage, undefined);
  const zero = await asked('fault=zero_usage');
  assert.equal((await zero.done()).usage?.total_tokens, 0);
  const late = await asked('fault=late_usage late_ms=1500');
  await late.until('response.output_item.done');
  const startedMs = performance.now();
  assert.equal(late.of('response.done').length, 0);
  assert.ok(((await late.done()).usage?.total_tokens ?? 0) > 0);
  assert.ok(performance.now() - startedMs > 150);
  for (const talk of [none, zero, late]) talk.client.close();
});

test('a cancelled answer tells its usage late, after the cancel', async () => {
  const talk = await asked('fault=late_usage late_ms=1000 gap_ms=50');
  await talk.until('response.output_audio.delta');
  talk.send({ type: 'response.cancel' });
  await talk.until('response.output_item.done');
  assert.equal(talk.of('response.done').length, 0);
  const { status, usage } = await talk.done();
  assert.equal(status, 'cancelled');
  assert.ok((usage?.output_token_details?.audio_tokens ?? 0) >= 1);
  talk.client.close();
});

test('the answer is done before its last audio', async () => {
  const talk = await asked('fault=early_done');
  await talk.until('response.output_audio.done');
  const types = talk.types();
  const done = types.indexOf('response.done');
  assert.equal(types.slice(done).filter((type) => type.endsWith('output_audio.delta')).length, 2);
  assert.equal(types.filter((type) => type === 'response.done').length, 1);
  assert.equal((await talk.done()).usage?.output_token_details?.audio_tokens, 20);
  talk.client.close();
});

test('a minute of audio comes much sooner than it plays', async () => {
  const watch = startStopwatch();
  const talk = await asked('seconds=60.05');
  await talk.done();
  watch.assertWithin(1_000, 'a minute of audio');
  assert.equal(talk.audio().length, 60_050 * 48);
  assert.equal(pitchOf(talk.audio(), rateHz), 220);
  talk.client.close();
});

test('events of one answer share an id', async () => {
  const talk = await asked('fault=duplicate_id');
  await talk.done();
  const ids = talk.of('response.output_audio.delta').map(({ event_id: id }) => id);
  assert.equal(new Set(ids).size, 1);
  assert.equal(ids.length, 20);
  talk.client.close();
});

test('an error comes in the middle, and garbage, and the answer goes on', async () => {
  const talk = await asked('fault=error,garbage at=3');
  assert.equal((await talk.done()).status, 'completed');
  assert.equal(talk.of('error')[0]?.error.type, 'server_error');
  assert.match(talk.errors[0]?.message ?? '', /could not parse/i);
  assert.equal(talk.audio().length, 2000 * 48);
  talk.client.close();
});

test('an answer fails or ends incomplete, with its usage', async () => {
  for (const [fault, reason] of [
    ['failed', undefined] as const,
    ['incomplete', 'content_filter'],
  ]) {
    const talk = await asked(`fault=${fault} at=2`);
    const { status, status_details: details, usage } = await talk.done();
    assert.deepEqual([status, details?.reason], [fault, reason]);
    assert.equal(usage?.output_token_details?.audio_tokens, 2);
    talk.client.close();
  }
});

test('the connection is closed or cut in the middle, in the turn that was named', async () => {
  const closed = await asked('fault=close at=2 turn=2');
  await closed.done();
  closed.say(spoken(440, 400, rateHz));
  assert.equal(await closed.closed, 1011);
  assert.equal(closed.of('response.output_audio.delta').length, 20 + 2);
  const coded = await asked('fault=close code=1008');
  assert.equal(await coded.closed, 1008);
  const cut = await asked('fault=cut at=2');
  assert.equal(await cut.closed, 1006);
  assert.equal(cut.of('response.output_audio.delta').length, 2);
});

test('a stalled session says nothing more and stays open', async () => {
  const talk = await asked('fault=stall at=2');
  await talk.events.until(() => talk.of('response.output_audio.delta').length === 2);
  const { count } = talk;
  talk.say(spoken(440, 400, rateHz));
  talk.send({ type: 'response.cancel' });
  await pause(100);
  assert.equal(talk.count, count);
  assert.equal(talk.client.socket.readyState, talk.client.socket.OPEN);
  talk.client.close();
});

test('the session expires: with a warning, by itself, or in silence', async () => {
  const talk = await asked('fault=goaway left_ms=50');
  await talk.until('error');
  assert.equal(talk.errors[0]?.code, 'session_expired');
  assert.equal(await talk.closed, 1001);
  const alone = await beginTalk(sim, '[[sim fault=goaway_silence after_ms=50]]');
  await alone.until('error');
  alone.say(spoken(440, 400, rateHz));
  await pause(50);
  assert.equal(alone.types().at(-1), 'error');
  alone.client.close();
});

test('deltas of an answer that was cancelled come late', async () => {
  const talk = await asked('gap_ms=30 fault=late_deltas');
  const { item_id: itemId } = await talk.until('response.output_audio.delta');
  talk.say(tone(600, 250, rateHz));
  await talk.done();
  const from = talk.types().indexOf('response.done');
  const isThird = () => talk.of('response.output_audio.delta', from).length === 3;
  await talk.events.until(isThird, from);
  assert.equal(talk.of('response.output_audio.delta', from)[0]?.item_id, itemId);
  talk.client.close();
});

test('every truncation is refused', async () => {
  const talk = await asked('fault=truncate_rejected');
  const [item] = (await talk.done()).output ?? [];
  const itemId = item !== undefined && 'id' in item ? (item.id ?? '') : '';
  talk.send({
    type: 'conversation.item.truncate',
    item_id: itemId,
    content_index: 0,
    audio_end_ms: 500,
  });
  await talk.until('error');
  assert.equal(talk.errors[0]?.code, 'invalid_value');
  talk.client.close();
});

test('a transcript comes after the answer, or never', async () => {
  const name = 'conversation.item.input_audio_transcription';
  const late = await asked('fault=late_transcript');
  await late.until(`${name}.completed`);
  assert.ok(late.types().indexOf('response.done') < late.types().indexOf(`${name}.delta`));
  const failed = await asked('fault=transcript_failed');
  await failed.until(`${name}.failed`);
  await failed.done();
  assert.equal(failed.of(`${name}.completed`).length, 0);
  for (const talk of [late, failed]) talk.client.close();
});

test('strangers are mixed in, and the client reads on', async () => {
  const talk = await asked('unknown=1');
  const response = await talk.done();
  assert.equal(response.status, 'completed');
  assert.ok(talk.of('response.done').every((event) => 'sim_unknown' in event));
  assert.ok(talk.types().includes('sim.response.done'));
  assert.equal(talk.audio().length, 2000 * 48);
  assert.deepEqual(talk.errors, []);
  talk.client.close();
});

test('upgrades are refused or left alone: by query, by control, by outage', async () => {
  const refused = new Talk(sim, 'right', 'sim-realtime-2026', '?sim=status%3D403');
  await refused.closed;
  assert.match(refused.errors[0]?.message ?? '', /403/);
  await post(sim, '/sim/voice', { directive: 'status=429 retry_after=7', connections: 1 });
  const limited = new Talk(sim, 'right');
  await limited.closed;
  assert.match(limited.errors[0]?.message ?? '', /429/);
  const outage = { status: 503, for_ms: 60_000, model: 'sim-realtime-2026' };
  await post(sim, '/sim/outage', outage);
  const out = new Talk(sim, 'right');
  await out.closed;
  assert.match(out.errors[0]?.message ?? '', /503/);
  await post(sim, '/sim/reset', {});
  const stalled = new Talk(sim, 'right', 'sim-realtime-2026', '?sim=fault%3Dconnect_stall');
  await pause(100);
  assert.equal(stalled.client.socket.readyState, stalled.client.socket.CONNECTING);
  stalled.client.socket.terminate();
  await stalled.closed;
});

test('sessions that run are closed, expired, or told to answer otherwise', async () => {
  const talk = await beginTalk(sim);
  await post(sim, '/sim/voice', { directive: 'text=otherwise seconds=0.25', act: true });
  talk.say(spoken(440, 400, rateHz));
  await talk.done();
  assert.equal(talk.of('response.output_audio_transcript.done')[0]?.transcript, 'otherwise');
  assert.equal(talk.audio().length, 250 * 48);
  await post(sim, '/sim/voice', { directive: 'fault=close code=1012', act: true });
  assert.equal(await talk.closed, 1012);
  await eventually(async () => (await statsOf(sim)).open === 0);
  const reply = await fetch(`http://127.0.0.1:${sim.port}/sim/voice`);
  const view = (await reply.json()) as { open: number; ended: Record<string, unknown> };
  assert.equal(view.open, 0);
  assert.equal(view.ended.family, 'realtime');
});
