// Both families against the simulator: what must be alike for a session, whatever the upstream.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningSim, startSim } from '../../../../bench/sim/server.ts';
import type { LiveUsage } from '../../../../media/providers/live/contract.ts';
import { pitchOf } from '../../../bench/sim/voice-probe.ts';
import { arm, begin, dial, seenBy, type Talk } from './talk.ts';

const families = ['openai-realtime', 'gemini-live'] as const;
/** Turns of the second family end when they were sent, not when they would have been played. */
const quick = 'playback=0';
let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
});
after(() => sim.close());

async function close({ call, listener }: Talk): Promise<void> {
  call.close(2000);
  await listener.until('ended');
  assert.equal(listener.types.at(-1), 'ended');
}

function usages({ listener }: Talk): LiveUsage[] {
  return listener.told.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
}

async function answered(talk: Talk, count = 1): Promise<void> {
  await talk.listener.when('answer_done', () => talk.count('answer_done') >= count);
}

for (const family of families) {
  test(`${family}: a turn is heard, answered and counted`, async () => {
    const context = [
      { role: 'user', content: 'one two three' },
      { role: 'assistant', content: 'four five' },
    ] as const;
    const talk = await begin(sim, family, { directive: quick, setup: { context } });
    talk.say(440);
    await answered(talk);
    const types = talk.listener.types.filter((type, index, all) => type !== all[index - 1]);
    assert.equal(types[0], 'ready');
    for (const [earlier, later] of [
      ['speech_started', 'speech_stopped'],
      ['speech_stopped', 'answer_started'],
      ['answer_started', 'audio'],
      ['audio', 'audio_done'],
      ['audio_done', 'answer_done'],
      ['usage', 'answer_done'],
    ] as const) {
      assert.ok(types.indexOf(earlier) < types.indexOf(later), `${types}`);
    }
    assert.equal(talk.audio().length, 2000 * 48);
    assert.equal(pitchOf(talk.audio(), 24_000), 220);
    await talk.listener.when('transcript', () => talk.text('user').length > 0);
    assert.deepEqual([talk.text('user'), talk.text('assistant')], [[' heard 440'], [' heard 440']]);
    const [usage] = usages(talk);
    assert.ok(usage !== undefined && usages(talk).length === 1);
    assert.equal(usage.outputSpeechTokens, 20);
    assert.ok(usage.inputSpeechTokens >= 10 && usage.inputTextTokens >= 5, JSON.stringify(usage));
    const { events } = await seenBy(sim);
    const frames = 'input_audio_buffer.append' in Object(events) ? 'input_audio_buffer.append' : '';
    assert.ok(Object(events)[frames === '' ? 'realtimeInput' : frames] >= 32);
    await close(talk);
  });

  test(`${family}: the second turn counts the first again, and reports add up`, async () => {
    const talk = await begin(sim, family, { directive: quick });
    talk.say(440);
    await answered(talk);
    talk.say(660);
    await answered(talk, 2);
    const [first, second] = usages(talk);
    assert.ok(first !== undefined && second !== undefined && usages(talk).length === 2);
    assert.ok(second.inputSpeechTokens >= first.inputSpeechTokens + 20 + 10);
    await close(talk);
  });

  test(`${family}: speech over an answer interrupts it, and a new one follows`, async () => {
    const talk = await begin(sim, family, { directive: 'gap_ms=40 seconds=3 fault=late_deltas' });
    talk.say(440);
    await talk.listener.until('audio');
    await sleep(120);
    talk.say(660);
    const { itemId } = await talk.listener.until('interrupted');
    talk.call.truncate({ itemId, heardMs: 150 });
    const at = talk.listener.types.indexOf('interrupted');
    await talk.listener.when('the next answer', () => talk.count('answer_started') === 2);
    await sleep(150);
    const late = talk.listener.told.slice(at).filter((event) => {
      return event.type === 'audio' && event.itemId === itemId;
    });
    assert.deepEqual(late, [], 'no late audio of the item');
    const { truncation } = await seenBy(sim);
    if (family === 'openai-realtime') {
      assert.deepEqual(truncation, { item_id: itemId, audio_end_ms: 150, accepted: true });
    }
    assert.equal(talk.count('problem'), 0);
    await close(talk);
    assert.ok(usages(talk).length >= 1);
  });

  test(`${family}: a barge-in silences at once, and its usage still comes`, async () => {
    const talk = await begin(sim, family, { directive: `${quick} gap_ms=20 fault=late_deltas` });
    talk.say(440);
    const { itemId } = await talk.listener.until('audio');
    talk.call.bargeIn({ itemId, heardMs: 60 });
    const { length } = talk.audio();
    await talk.listener.until('usage');
    await sleep(100);
    assert.equal(talk.audio().length, length);
    assert.equal(talk.count('answer_done'), 0);
    const { truncation, events } = await seenBy(sim);
    if (family === 'openai-realtime') {
      assert.deepEqual(truncation, { item_id: itemId, audio_end_ms: 60, accepted: true });
      assert.equal(Object(events)['response.cancel'], 1);
    }
    talk.say(660);
    await answered(talk);
    assert.equal(pitchOf(talk.audio().subarray(length), 24_000), 330);
    assert.equal(talk.count('problem'), 0);
    await close(talk);
  });

  test(`${family}: a tool call, its result, and the answer after it`, async () => {
    const tool = { name: 'clock', description: 'The time', parameters: { type: 'object' } };
    const directive = `${quick} tool=clock`;
    const setup = { instructions: `[[sim ${directive}]]`, tools: [tool] };
    const talk = await begin(sim, family, { directive, setup });
    talk.say(440);
    const { callId, name, argumentsJson } = await talk.listener.until('tool_call');
    assert.deepEqual([name, argumentsJson], ['clock', '{}']);
    await sleep(50);
    assert.equal(talk.count('answer_done'), 0, 'the answer goes on');
    talk.call.toolResult(callId, name, '{"time":"12:00"}');
    await answered(talk);
    assert.equal(talk.audio().length, 2000 * 48);
    assert.equal(usages(talk).length, 2, 'the model was called twice');
    await close(talk);
  });

  test(`${family}: 60 s of audio at once arrive whole`, async () => {
    const talk = await begin(sim, family, { directive: `${quick} seconds=60` });
    talk.say(440);
    await answered(talk);
    assert.equal(talk.audio().length, 60_000 * 48);
    await close(talk);
  });

  test(`${family}: usage that comes after the close is waited for`, async () => {
    const talk = await begin(sim, family, { directive: 'gap_ms=50 fault=late_usage late_ms=200' });
    talk.say(440);
    await talk.listener.until('audio');
    if (family === 'gemini-live') talk.say(660);
    talk.call.close(30_000);
    await talk.listener.until('ended');
    assert.equal(usages(talk).length, 1);
  });

  for (const [status, kind] of [
    [401, 'refused'],
    [403, 'refused'],
    [429, 'busy'],
    [500, 'connect'],
  ] as const) {
    test(`${family}: an upgrade refused with ${status} is ${kind}`, async () => {
      await arm(sim, `status=${status}`);
      assert.equal((await dial(sim, family).listener.until('failed')).kind, kind);
    });
  }

  test(`${family}: a wrong key, a wrong model, no answer at all`, async () => {
    const key = await dial(sim, family, { apiKey: 'wrong' }).listener.until('failed');
    assert.equal(key.kind, 'refused', key.text);
    const model = await dial(sim, family, { model: 'none-such' }).listener.until('failed');
    assert.equal(model.kind, 'refused', model.text);
    await arm(sim, 'fault=connect_stall');
    const silent = dial(sim, family, { connectMs: 1_000 });
    assert.equal((await silent.listener.until('failed')).kind, 'timeout');
  });
}
