// The Realtime family of the simulator against the vendor's own client and published types.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { readPublished } from './published.ts';
import { beginTalk, rateHz, Talk } from './realtime-talk.ts';
import { pitchOf, silence, spoken, tone } from './voice-probe.ts';

const published = readPublished('openai/resources/realtime/realtime');
const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'weather',
  parameters: { type: 'object', properties: {} },
};
let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
});
after(() => sim.close());

/** Repeats of an event are told once. */
function folded(types: string[]): string[] {
  return types.filter((type, index) => type !== types[index - 1]);
}

test('a spoken turn: order of the provider, half the pitch, 10 tokens a second', async () => {
  const talk = await beginTalk(sim, 'be kind');
  const from = talk.count;
  talk.say(spoken(440, 1000, rateHz));
  const response = await talk.done();
  assert.deepEqual(folded(talk.types(from)).slice(0, 10), [
    'input_audio_buffer.speech_started',
    'input_audio_buffer.speech_stopped',
    'input_audio_buffer.committed',
    'conversation.item.added',
    'conversation.item.done',
    'response.created',
    'rate_limits.updated',
    'response.output_item.added',
    'conversation.item.added',
    'response.content_part.added',
  ]);
  assert.deepEqual(talk.types(from).slice(-7), [
    'response.output_audio.delta',
    'response.output_audio.done',
    'response.output_audio_transcript.done',
    'response.content_part.done',
    'conversation.item.done',
    'response.output_item.done',
    'response.done',
  ]);
  assert.equal(talk.audio().length, 2 * rateHz * 2);
  assert.equal(pitchOf(talk.audio(), rateHz), 220);
  const [told] = talk.of('conversation.item.input_audio_transcription.completed');
  assert.equal(told?.transcript, ' heard 440');
  const [said] = talk.of('response.output_audio_transcript.done');
  assert.equal(said?.transcript, ' heard 440');
  assert.equal(response.status, 'completed');
  // 1 s of tone and 0.6 s of silence; two words of instructions and of transcript.
  assert.deepEqual(response.usage, {
    total_tokens: 40,
    input_tokens: 18,
    output_tokens: 22,
    input_token_details: {
      text_tokens: 2,
      audio_tokens: 16,
      image_tokens: 0,
      cached_tokens: 0,
      cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: 2, audio_tokens: 20 },
  });
  assert.deepEqual(talk.errors, []);
  talk.client.close();
});

test('the next turn counts the first again, from the cache, and nothing twice', async () => {
  const talk = await beginTalk(sim, 'be kind');
  talk.say(spoken(440, 1000, rateHz));
  await talk.done();
  const from = talk.count;
  talk.say(spoken(600, 400, rateHz));
  const { usage } = await talk.done(from);
  assert.equal(pitchOf(talk.audio(from), rateHz), 300);
  // 40 ms before, which is all there is, 400 of tone, 600 of silence; the answer: 20 and 2 words.
  assert.equal(usage?.input_token_details?.audio_tokens, 16 + 20 + 11);
  assert.equal(usage?.input_token_details?.text_tokens, 2 + 2);
  assert.deepEqual(usage?.input_token_details?.cached_tokens_details, {
    text_tokens: 2,
    audio_tokens: 16,
    image_tokens: 0,
  });
  assert.equal(usage?.output_tokens, 22);
  talk.client.close();
});

test('what is too short is no turn, and a pause that is too short ends none', async () => {
  const talk = await beginTalk(sim);
  talk.say(Buffer.concat([tone(440, 160, rateHz), silence(1000, rateHz)]));
  talk.say(Buffer.concat([tone(500, 300, rateHz), silence(500, rateHz)]));
  talk.say(spoken(500, 300, rateHz));
  await talk.done();
  assert.equal(talk.of('input_audio_buffer.speech_started').length, 1);
  const [started] = talk.of('input_audio_buffer.speech_started');
  const [stopped] = talk.of('input_audio_buffer.speech_stopped');
  assert.equal(started?.audio_start_ms, 1160 - 300);
  assert.equal(stopped?.audio_end_ms, 1160 + 300 + 500 + 300 + 600);
  assert.equal(talk.of('response.output_audio_transcript.done')[0]?.transcript, ' heard 500');
  talk.client.close();
});

test('speaking interrupts an answer that runs, and what was sent of it is counted', async () => {
  const talk = await beginTalk(sim, '[[sim gap_ms=20]]');
  talk.say(spoken(440, 400, rateHz));
  const { item_id: itemId } = await talk.until('response.output_audio.delta');
  talk.say(tone(600, 250, rateHz));
  const response = await talk.done();
  assert.equal(response.status, 'cancelled');
  assert.deepEqual(response.status_details, { type: 'cancelled', reason: 'turn_detected' });
  const sentMs = talk.audio().length / 48;
  assert.ok(sentMs >= 100 && sentMs < 2000);
  assert.equal(response.usage?.output_token_details?.audio_tokens, sentMs / 100);
  const types = talk.types();
  const started = types.lastIndexOf('input_audio_buffer.speech_started');
  assert.deepEqual(types.slice(started + 1, started + 7), [
    'response.output_audio.done',
    'response.output_audio_transcript.done',
    'response.content_part.done',
    'conversation.item.done',
    'response.output_item.done',
    'response.done',
  ]);
  const truncate = { type: 'conversation.item.truncate' as const, content_index: 0 };
  talk.send({ ...truncate, item_id: itemId, audio_end_ms: sentMs + 1 });
  talk.send({ ...truncate, item_id: itemId, audio_end_ms: 0 });
  talk.send({ ...truncate, item_id: 'item_none', audio_end_ms: 1 });
  talk.send({ ...truncate, item_id: itemId, audio_end_ms: 100 });
  const truncated = await talk.until('conversation.item.truncated');
  assert.equal(truncated.audio_end_ms, 100);
  assert.deepEqual(
    talk.errors.map(({ code }) => code),
    ['invalid_value', 'invalid_value', 'item_truncate_invalid_item_id'],
  );
  assert.match(talk.errors[0]?.message ?? '', /is already shorter than/);
  const from = talk.count;
  talk.say(silence(640, rateHz));
  const { usage } = await talk.done(from);
  // Of the first answer 100 ms are kept, and no transcript.
  assert.equal(usage?.input_token_details?.audio_tokens, 10 + 1 + 9);
  assert.equal(usage?.input_token_details?.text_tokens, 2);
  talk.client.close();
});

test('an answer is not interrupted where the session does not want it', async () => {
  const detection = { type: 'server_vad' as const, interrupt_response: false };
  const talk = await beginTalk(sim, '[[sim gap_ms=10]]', {
    audio: { input: { turn_detection: { ...detection, create_response: false } } },
  });
  talk.say(spoken(440, 400, rateHz));
  await talk.until('input_audio_buffer.committed');
  talk.send({ type: 'response.create' });
  await talk.until('response.output_audio.delta');
  talk.say(spoken(600, 400, rateHz));
  assert.equal((await talk.done()).status, 'completed');
  assert.equal(talk.of('response.created').length, 1);
  talk.client.close();
});

test('the client cancels, and is told when there is nothing to cancel', async () => {
  const talk = await beginTalk(sim, '[[sim first_ms=500]]');
  talk.say(spoken(440, 400, rateHz));
  await talk.until('response.content_part.added');
  talk.send({ type: 'response.create', event_id: 'mine_1' });
  talk.send({ type: 'response.cancel' });
  const response = await talk.done();
  assert.deepEqual(response.status_details, { type: 'cancelled', reason: 'client_cancelled' });
  assert.equal(response.usage?.output_tokens, 0);
  talk.send({ type: 'response.cancel', event_id: 'mine_2' });
  await talk.until('error', talk.count);
  assert.deepEqual(
    talk.errors.map(({ code, eventId }) => [code, eventId]),
    [
      ['conversation_already_has_active_response', 'mine_1'],
      ['response_cancel_not_active', 'mine_2'],
    ],
  );
  talk.client.close();
});

test('tools: calls in rounds, results as items, then the answer', async () => {
  const args = Buffer.from('{"city":"Ulm"}').toString('base64url');
  const directive = `[[sim call=weather:${args},weather tool=weather tool=missing]]`;
  const talk = await beginTalk(sim, directive, { tools: [weather] });
  talk.say(spoken(440, 400, rateHz));
  const first = await talk.done();
  const calls = (first.output ?? []).map((item) => {
    assert.ok(item.type === 'function_call');
    return item;
  });
  assert.deepEqual(
    calls.map(({ name, arguments: written }) => [name, written]),
    [
      ['weather', '{"city":"Ulm"}'],
      ['weather', '{}'],
    ],
  );
  const deltas = talk.of('response.function_call_arguments.delta');
  const joined = deltas.filter(({ output_index: at }) => at === 0).map(({ delta }) => delta);
  assert.equal(joined.join(''), '{"city":"Ulm"}');
  // One word for each name and each arguments.
  assert.deepEqual(first.usage?.output_token_details, { text_tokens: 4, audio_tokens: 0 });
  for (const { call_id: callId = '' } of calls) {
    const item = { type: 'function_call_output' as const, call_id: callId, output: 'it rains' };
    talk.send({ type: 'conversation.item.create', item });
  }
  let from = talk.count;
  talk.send({ type: 'response.create' });
  assert.equal((await talk.done(from)).output?.[0]?.type, 'function_call');
  from = talk.count;
  talk.send({ type: 'response.create' });
  const last = await talk.done(from);
  assert.equal(last.output?.[0]?.type, 'message');
  assert.equal(pitchOf(talk.audio(from), rateHz), 220);
  const lost = { type: 'function_call_output' as const, call_id: 'call_none', output: '' };
  talk.send({ type: 'conversation.item.create', item: lost });
  await talk.until('error', from);
  talk.client.close();
});

test('history and written turns: items are kept, found, removed, and counted', async () => {
  const talk = await beginTalk(sim, '', { output_modalities: ['text'] });
  talk.send({
    type: 'conversation.item.create',
    item: { id: 'mine', type: 'message', role: 'user', content: [content('three words here')] },
  });
  const answer = [{ type: 'output_text' as const, text: 'two words' }];
  talk.send({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'assistant', content: answer },
  });
  talk.send({ type: 'conversation.item.retrieve', item_id: 'mine' });
  assert.equal((await talk.until('conversation.item.retrieved')).item.id, 'mine');
  talk.send({ type: 'response.create' });
  const { usage, output } = await talk.done();
  assert.equal(usage?.input_tokens, 5);
  assert.equal(output?.[0]?.type, 'message');
  assert.equal(talk.of('response.output_text.done')[0]?.text, ' heard 0');
  talk.send({ type: 'conversation.item.delete', item_id: 'mine' });
  await talk.until('conversation.item.deleted');
  const from = talk.count;
  talk.send({ type: 'response.create', response: { conversation: 'none', metadata: { a: 'b' } } });
  const aside = await talk.done(from);
  assert.equal(aside.usage?.input_tokens, 2 + 2);
  assert.deepEqual(aside.metadata, { a: 'b' });
  assert.equal(talk.of('conversation.item.added', from).length, 0);
  talk.client.close();
});

function content(text: string) {
  return { type: 'input_text' as const, text };
}

test('without turn detection the client commits, at least 100 ms', async () => {
  const talk = await beginTalk(sim, '', { audio: { input: { turn_detection: null } } });
  talk.say(tone(440, 96, rateHz));
  talk.send({ type: 'input_audio_buffer.commit' });
  await talk.until('error');
  assert.equal(talk.errors[0]?.code, 'input_audio_buffer_commit_empty');
  talk.send({ type: 'input_audio_buffer.clear' });
  await talk.until('input_audio_buffer.cleared');
  talk.say(Buffer.concat([tone(700, 500, rateHz), silence(1000, rateHz)]));
  talk.send({ type: 'input_audio_buffer.commit' });
  await talk.until('input_audio_buffer.committed');
  assert.equal(talk.of('input_audio_buffer.speech_started').length, 0);
  talk.send({ type: 'response.create', response: { max_output_tokens: 12 } });
  const response = await talk.done();
  assert.equal(response.usage?.input_tokens, 15);
  assert.deepEqual(response.status_details, { type: 'incomplete', reason: 'max_output_tokens' });
  assert.equal(response.usage?.output_tokens, 12);
  assert.equal(pitchOf(talk.audio(), rateHz), 350);
  talk.client.close();
});

test('what it sends has the published types', async () => {
  const talk = await beginTalk(sim, '[[sim tool=weather]]', { tools: [weather] });
  talk.say(spoken(440, 300, rateHz));
  const first = await talk.done();
  const [call] = first.output ?? [];
  assert.ok(call?.type === 'function_call');
  const { call_id: callId = '' } = call;
  const item = { type: 'function_call_output' as const, call_id: callId, output: 'rain' };
  talk.send({ type: 'conversation.item.create', item });
  const from = talk.count;
  talk.send({ type: 'response.create' });
  await talk.done(from);
  talk.send({ type: 'response.cancel' });
  await talk.until('error', from);
  assert.ok(talk.count > 45);
  const ids = new Set(talk.events.all.map((event) => ('event_id' in event ? event.event_id : '')));
  assert.equal(ids.size, talk.count, 'every event has an id of its own');
  for (const event of talk.events.all) {
    // The published session is that of the client: no id, no nulls.
    if (event.type.startsWith('session.')) continue;
    assert.deepEqual(published.findings(event, 'RealtimeServerEvent'), [], event.type);
  }
  talk.client.close();
});

test('refuses what the provider refuses, and the session goes on', async () => {
  const talk = await beginTalk(sim);
  const wrong: [object, string][] = [
    [{ type: 'session.update', session: {} }, 'missing_required_parameter'],
    [{ type: 'session.update', session: { type: 'realtime', nonsense: 1 } }, 'unknown_parameter'],
    [update({ input: { format: { type: 'audio/pcm', rate: 16_000 } } }), 'invalid_value'],
    [update({ input: { turn_detection: { type: 'none' } } }), 'invalid_value'],
    [update({ input: { vad: null } }), 'unknown_parameter'],
    [{ type: 'session.update', session: { type: 'realtime', tools: [{}] } }, 'invalid_value'],
    [{ type: 'input_audio_buffer.append', audio: 'no base64!' }, 'invalid_value'],
    [{ type: 'input_audio_buffer.append', audio: 'AAAA' }, 'invalid_value'],
    [{ type: 'response.stop' }, 'invalid_value'],
    [{ type: 'conversation.item.delete', item_id: 'none' }, 'item_delete_invalid_item_id'],
  ];
  for (const [event, code] of wrong) {
    const from = talk.count;
    talk.client.socket.send(JSON.stringify(event));
    assert.equal((await talk.until('error', from)).error.code, code, JSON.stringify(event));
  }
  const from = talk.count;
  talk.client.socket.send('{"type":');
  assert.equal((await talk.until('error', from)).error.code, 'invalid_json');
  talk.send({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [content('[[sim text=still_here]]')] },
  });
  talk.send({ type: 'response.create' });
  await talk.done();
  assert.equal(talk.of('response.output_audio_transcript.done')[0]?.transcript, 'still here');
  talk.client.close();
});

function update(audio: object): object {
  return { type: 'session.update', session: { type: 'realtime', audio } };
}

test('a wrong key is refused with 401, an unknown model after the upgrade', async () => {
  const wrong = new Talk(sim, 'wrong');
  await wrong.closed;
  assert.match(wrong.errors[0]?.message ?? '', /401/);
  const unknown = new Talk(sim, 'right', 'gpt-none');
  assert.equal(await unknown.closed, 1008);
  assert.equal(unknown.errors[0]?.code, 'model_not_found');
});
