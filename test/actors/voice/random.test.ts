// Whatever client and upstream do, in whatever order: a session ends once, is billed what was
// reported, and leaves nothing behind (which the stage proves of its books and places).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMove, type TurnState } from '../../../actors/voice/turn.ts';
import type { LiveEvent } from '../../../media/providers/live/contract.ts';
import type { TestAccount } from '../../harness/account.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import type { FakeCall, FakeClient } from './fakes.ts';
import { stagesOfFile, until, type VoiceStage } from './stage.ts';

const open = stagesOfFile();
const sessions = 60;
const stepsMax = 40;

type Random = () => number;
const pick = <Item>(random: Random, items: readonly Item[]): Item => {
  const item = items[Math.floor(random() * items.length)];
  assert.ok(item !== undefined);
  return item;
};

/** What an upstream may say, also where it makes no sense. */
function saying(random: Random): LiveEvent {
  const itemId = pick(random, ['a', 'b', 'c']);
  const callId = pick(random, ['c1', 'c2', 'c3']);
  const role = pick(random, ['user', 'assistant'] as const);
  const argumentsJson = pick(random, ['{}', 'no json', 'null', '{"query":7}', '{"query":"x"}']);
  return pick<LiveEvent>(random, [
    { type: 'ready' },
    { type: 'speech_started' },
    { type: 'speech_stopped' },
    { type: 'answer_started', itemId },
    { type: 'audio', itemId, pcm: new Uint8Array(48 * Math.floor(random() * 400)) },
    { type: 'audio', itemId, pcm: new Uint8Array(960), isReported: true },
    { type: 'audio_done', itemId },
    { type: 'transcript', role, itemId, text: 'word', final: random() < 0.5 },
    { type: 'transcript', role: 'user', itemId, text: 'late', final: false, isLate: true },
    { type: 'interrupted', itemId },
    {
      type: 'answer_done',
      outcome: pick(random, ['completed', 'interrupted', 'incomplete', 'failed']),
    },
    {
      type: 'tool_call',
      callId,
      name: pick(random, ['current_time', 'web_search', 'other']),
      argumentsJson,
    },
    { type: 'tool_refused', callId, name: 'other' },
    { type: 'tool_cancelled', callIds: [callId, 'unknown'] },
    { type: 'usage', usage: report },
    { type: 'usage', usage: report },
    { type: 'unreported' },
    { type: 'going_away', leftMs: 60_000 * random() },
    { type: 'problem', code: 'rate_limit_exceeded', text: 'slow down' },
  ]);
}

const report = {
  inputSpeechTokens: 3,
  inputTextTokens: 0,
  outputSpeechTokens: 5,
  outputTextTokens: 0,
};
const reportMicros = 3 * 105 + 5 * 210;

const clientActs: readonly ((client: FakeClient) => void)[] = [
  (client) => client.frame(),
  (client) => client.frame(1_024, 5_000),
  (client) => client.frame(100),
  (client) => client.frame(0),
  (client) => client.frame(1_023),
  (client) => client.send({ type: 'barge_in' }),
  (client) => client.send({ type: 'barge_in' }),
  (client) => client.send('{"type":'),
  (client) => client.send({ type: 'start', mode: 'full', voice_id: 'alto' }),
];

/** Ends of every kind, in every phase. */
const ends: readonly ((client: FakeClient, call: FakeCall | null, stage: VoiceStage) => void)[] = [
  (client) => client.send({ type: 'end' }),
  (client) => client.leave(),
  (_client, call) => call?.says({ type: 'failed', kind: 'closed', text: 'closed with 1006' }),
  (_client, call) => call?.says({ type: 'failed', kind: 'garbage', text: 'no JSON' }),
  (client) => client.session.self.tell('finish', 'server_draining'),
  (client) => {
    client.bufferedBytes = 1_000_000;
  },
  (client) => client.session.self.tell('fault', new Error('a bug')),
];

async function live(
  stage: VoiceStage,
  account: TestAccount,
  random: Random,
): Promise<{ client: FakeClient; call: FakeCall | null; reports: number }> {
  const before = stage.calls.length;
  const client = stage.connect(account);
  let reports = 0;
  const say = (call: FakeCall, event: LiveEvent) => {
    if (event.type === 'usage' && client.session.call === call) reports += 1;
    call.says(event);
  };
  client.start({ tools_enabled: random() < 0.8 });
  if (random() < 0.9) await until('the upstream is called', () => stage.calls.length > before);
  const call = stage.calls[before] ?? null;
  if (call !== null) call.endsAtOnce = random() < 0.5;
  const steps = Math.floor(random() * stepsMax);
  if (random() < 0.9) call?.says({ type: 'ready' });
  for (let step = 0; step < steps; step += 1) {
    if (call !== null && call.closedMs === null && random() < 0.7) say(call, saying(random));
    else if (random() < 0.15) pick(random, clientActs)(client);
    if (random() < 0.05) await sleep(random() * 50);
  }
  pick(random, ends)(client, call, stage);
  // One that never reports ends by its deadline.
  if (random() < 0.3 && call !== null && client.session.phase === 'ending') {
    say(call, { type: 'usage', usage: report });
  }
  return { client, call, reports };
}

function assertTold(client: FakeClient): void {
  const ended = client.told.findIndex(({ type }) => type === 'session.ended');
  assert.ok(ended === -1 || ended === client.told.length - 1, 'nothing follows the end');
  let state: TurnState = 'connecting';
  for (const told of client.of('status').slice(1)) {
    const next = told.state as TurnState;
    assert.ok(isMove(state, next), `${state} to ${next}`);
    state = next;
  }
}

test('random sessions end once, and are billed for what was reported', async (t) => {
  t.diagnostic(`seed ${testSeed}`);
  const random = createRandom(testSeed);
  const stage = await open({ search: async () => (random() < 0.5 ? [] : null) });
  const account = await stage.account(1_000_000_000n);
  for (let count = 0; count < sessions; count += 1) {
    const { client, call, reports } = await live(stage, account, random);
    if (client.session.phase !== 'over' && client.session.endReason === null) {
      // Its end had nothing to end, or was told to nobody yet.
      await sleep(0);
      if (client.session.endReason === null) client.send({ type: 'end' });
    }
    if (call !== null && !call.endsAtOnce) call.says({ type: 'ended' });
    await stage.over(client);
    assertTold(client);
    // After a bug nobody waits for the ledger.
    await until('it is settled', async () => (await stage.row(client)).state !== 'live');
    const row = await stage.row(client);
    if (row.source !== 'reported') continue;
    assert.equal(row.charge, reports * reportMicros + Number(row.searches) * 105_000);
  }
});
