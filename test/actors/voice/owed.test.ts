// What an upstream may still owe when its client is gone: so much of the hold is kept, and no more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import { type FakeClient, report, sound } from './fakes.ts';
import { stagesOfFile, until } from './stage.ts';

const open = stagesOfFile();

function speak(client: FakeClient, ms: number): void {
  for (let frame = 0; frame < ms / 32; frame += 1) client.frame();
}

/** What is held once the client has left, while its upstream may still report. */
async function keptOf(account: TestAccount, client: FakeClient): Promise<bigint> {
  const { call } = client;
  assert.ok(call !== null);
  call.endsAtOnce = false;
  const heldMicros = async () => (await account.balance()).heldMicros;
  const before = await heldMicros();
  client.leave();
  await until('it is reduced', async () => (await heldMicros()) !== before);
  return heldMicros();
}

test('kept is what was missed, all that was said once more, and what comes ahead', async () => {
  const stage = await open();
  const account = await stage.account();
  const client = await stage.live(account);
  client.call?.says(report(30, 20), report(10, 5));
  speak(client, 1_600);
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 2_000));
  client.call?.says({ type: 'unreported' }, { type: 'answer_started', itemId: 'b' });
  client.call?.says(sound('b', 30_000));
  await until('its hold has grown', () => !client.session.funds.extending);
  // Half a minute of the last answer and half a minute ahead are 600 tokens of each kind; the
  // longest conversation had 50 of speech, and the set-up 1,000 of text.
  const speech = (40 + 16 + 600 + 50) * 105 + (25 + 20 + 600) * 210;
  assert.equal(await keptOf(account, client), BigInt(speech + (1_000 + 600) * 10.5 + 600 * 21));
  client.call?.says({ type: 'ended' });
  const row = await stage.over(client);
  assert.deepEqual([row.speech_in, row.speech_out], [40 + 16, 25 + 20 + 300]);
});

test('what the user said before one unreported answer is not counted for the next', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  speak(client, 1_600);
  for (const itemId of ['a', 'b']) {
    client.call?.says({ type: 'answer_started', itemId }, sound(itemId, 1_000));
    client.call?.says({ type: 'unreported' });
  }
  client.send({ type: 'end' });
  const row = await stage.over(client);
  assert.deepEqual([row.source, row.speech_in, row.speech_out], ['estimated', 16, 20]);
});

test('what came of an answer that was given up is estimated like what was heard', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  const { call } = client;
  assert.ok(call !== null);
  call.endsAtOnce = false;
  call.says({ type: 'answer_started', itemId: 'a' }, sound('a', 1_000));
  client.send({ type: 'barge_in' });
  call.says({ type: 'unheard', durationMs: 2_000 }, { type: 'unreported' });
  call.says({ type: 'answer_started', itemId: 'b' }, sound('b', 500));
  client.leave();
  call.says({ type: 'unheard', durationMs: 1_500 }, { type: 'ended' });
  const row = await stage.over(client);
  assert.deepEqual([row.source, row.speech_out], ['estimated', 10 + 20 + 5 + 15]);
});

test('a report counts what nobody heard of its answer', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 1_000));
  client.send({ type: 'barge_in' });
  client.call?.says({ type: 'unheard', durationMs: 2_000 }, report(3, 30));
  client.send({ type: 'end' });
  const row = await stage.over(client);
  assert.deepEqual([row.source, row.speech_in, row.speech_out], ['reported', 3, 30]);
});

test('of an upstream that is lost nobody pays for what was unheard of its answer', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  const { call } = client;
  call?.says({ type: 'answer_started', itemId: 'a' }, { type: 'unheard', durationMs: 1_000 });
  call?.says({ type: 'unreported' }, { type: 'answer_started', itemId: 'b' }, sound('b', 200));
  client.send({ type: 'barge_in' });
  call?.says({ type: 'unheard', durationMs: 2_000 });
  call?.says({ type: 'failed', kind: 'closed', text: 'closed with 1011' });
  const row = await stage.over(client);
  assert.deepEqual([row.source, row.speech_out], ['estimated', 10 + 2]);
});

test('what a session with a bug had said without a report is estimated', async () => {
  const stage = await open();
  const client = await stage.live(await stage.account());
  client.call?.says(report(10, 0));
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 100));
  client.call?.says({ type: 'audio_done', itemId: 'a' });
  await until('it is sent', () => client.of('sound').length >= 2);
  client.call?.says(null as never);
  await stage.over(client);
  await until('it is settled', async () => (await stage.row(client)).charge !== null);
  const row = await stage.row(client);
  assert.deepEqual([row.source, row.charge], ['estimated', 1_050 + 210]);
});
