// The states that a client is shown where an upstream leaves something out.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAccount } from '../../harness/account.ts';
import {
  audio,
  generationComplete,
  heard,
  turnComplete,
} from '../../media/providers/live/gemini-live/fixtures.ts';
import { readyCodec } from '../../media/providers/live/gemini-live/session.ts';
import { asText, type Message, pcm } from '../../media/providers/live/streams.ts';
import { type FakeClient, sound } from './fakes.ts';
import { stagesOfFile, until, type VoiceStage } from './stage.ts';

const open = stagesOfFile();
let stage: VoiceStage;
let account: TestAccount;
before(async () => {
  stage = await open();
  account = await stage.account();
});

async function live(): Promise<FakeClient> {
  const client = await stage.live(account);
  client.forget();
  return client;
}

test('who has stopped speaking is answered, and who goes on is listened to', async () => {
  const client = await live();
  client.call?.says({ type: 'speech_started' }, { type: 'speech_stopped' });
  assert.deepEqual(client.types(), ['thinking']);
  client.call?.says({ type: 'speech_started' });
  assert.deepEqual(client.types(), ['thinking', 'listening']);
  await stage.leave(client);
});

test('who speaks before the rest of an answer has begun is listened to, for as long', async () => {
  const stage = await open({ stalledMs: 600 });
  const client = await stage.live(await stage.account(), { tools_enabled: true });
  client.forget();
  const call = { callId: 'c', name: 'current_time', argumentsJson: '{}' };
  client.call?.says({ type: 'tool_call', ...call });
  assert.equal(client.call?.results.length, 1, 'it has its result, and goes on');
  client.call?.says({ type: 'speech_started' });
  assert.deepEqual(client.types(), ['tool', 'tool', 'thinking', 'listening']);
  // No answer that the upstream owes is late meanwhile.
  await sleep(1_500);
  assert.deepEqual([client.ended, client.of('error')], [null, []]);
  await stage.leave(client);
});

test('an answer that was given up before it began is not awaited: it comes, unheard', async () => {
  const client = await live();
  const codec = readyCodec();
  const says = (message: Message) => client.call?.says(...codec.read(asText(message)).events);
  says(heard('a'));
  client.send({ type: 'barge_in' });
  codec.bargeIn(null);
  for (const message of [audio(pcm(1)), generationComplete, turnComplete(30, 50)]) says(message);
  assert.deepEqual(client.of('status'), [], 'it is still the turn of the user');
  await stage.leave(client);
});

test('an answer that ends before it has begun is not awaited', async () => {
  const client = await live();
  client.call?.says({ type: 'speech_started' }, { type: 'speech_stopped' });
  client.call?.says({ type: 'answer_done', outcome: 'completed' });
  assert.deepEqual(client.types(), ['thinking', 'listening']);
  await stage.leave(client);
});

test('an upstream that tells the end of its answer late is not thinking until then', async () => {
  const client = await live();
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 40));
  client.call?.says({ type: 'audio_done', itemId: 'a' });
  await until('it is played', () => !['sound', 'speaking'].includes(client.types().at(-1) ?? ''));
  assert.deepEqual(client.types(), ['thinking', 'speaking', 'sound', 'listening']);
  await stage.leave(client);
});

test('a long answer is read on when enough of it was heard', async () => {
  const client = await live();
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 220_500));
  assert.deepEqual(client.call?.told, ['pause']);
  await until('it is read on', () => client.call?.told.includes('resume'));
  client.call?.says(sound('a', 10_000));
  assert.deepEqual(client.call?.told, ['pause', 'resume', 'pause']);
  await stage.leave(client);
});
