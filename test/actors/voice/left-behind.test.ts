// What a session that ends leaves to others: its upstream, the memory of its sound, its lane, and
// the calls of tools that nobody waits for any more.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { LiveEvent } from '../../../media/providers/live/contract.ts';
import type { TestAccount } from '../../harness/account.ts';
import { type FakeClient, sound, untilAborted } from './fakes.ts';
import { stagesOfFile, type VoiceStage } from './stage.ts';

const open = stagesOfFile();
const signals: AbortSignal[] = [];
let stage: VoiceStage;
let account: TestAccount;
before(async () => {
  const search = (signal: AbortSignal) => {
    signals.push(signal);
    return untilAborted(signal);
  };
  stage = await open({ search, targets: 2 });
  account = await stage.account();
});

test('an upstream that is not ready is left at once by whoever goes', async () => {
  const gone = await stage.starting(account);
  gone.leave();
  const ended = await stage.starting(account);
  ended.send({ type: 'end' });
  for (const client of [gone, ended]) {
    await stage.over(client);
    assert.deepEqual(client.call?.told, ['close 0']);
  }
  assert.deepEqual(ended.ended, { code: 1000, reason: 'client_end' });
  assert.deepEqual(ended.types(), ['connecting', 'session.ended']);
});

test('the lane of an upstream that is given up goes to others', async () => {
  const client = await stage.starting(account);
  const { lane } = client.session;
  client.call?.says({ type: 'failed', kind: 'connect', text: 'refused' });
  assert.notEqual(client.session.lane, lane);
  assert.equal(lane?.push(new Uint8Array(1_024)), false, 'it is closed');
  assert.equal(client.session.lane?.push(new Uint8Array(1_024)), true);
  await stage.leave(client);
});

test('a bug leaves no upstream, no lane and no memory behind', async () => {
  const client = await stage.live(account);
  const { lane, deps } = client.session;
  client.call?.says({ type: 'answer_started', itemId: 'a' }, sound('a', 10_000));
  assert.ok(deps.budget.usedBytes > 0);
  client.call?.says(null as never);
  await stage.over(client);
  assert.equal(client.of('error')[0]?.code, 'internal');
  assert.deepEqual(client.call?.told, ['close 0']);
  assert.equal(lane?.push(new Uint8Array(1_024)), false, 'it is closed');
  assert.equal(deps.budget.usedBytes, 0);
});

const interrupted: LiveEvent = { type: 'interrupted', itemId: 'a' };
const cancelled: LiveEvent = { type: 'tool_cancelled', callIds: ['other', 'c'] };

for (const [name, act] of [
  ['the end of the session', (client: FakeClient) => client.send({ type: 'end' })],
  ['speech over the answer', ({ call }: FakeClient) => call?.says(interrupted)],
  ['the model itself', ({ call }: FakeClient) => call?.says(cancelled)],
] as const) {
  test(`a search that is given up by ${name} ends, and its client is told`, async () => {
    const client = await stage.live(account, { tools_enabled: true });
    const argumentsJson = '{"query":"news"}';
    client.call?.says({ type: 'tool_call', callId: 'c', name: 'web_search', argumentsJson });
    const signal = signals.at(-1);
    act(client);
    assert.equal(signal?.aborted, true);
    assert.deepEqual(
      client.of('tool').map(({ id, state }) => `${id} ${state}`),
      ['c started', 'c failed'],
    );
    assert.deepEqual(client.call?.results, [], 'nobody wants its result');
    await stage.leave(client);
  });
}
