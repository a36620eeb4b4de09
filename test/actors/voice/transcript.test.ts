// What a client is told was said, where answers end in other ways than well.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { LiveEvent } from '../../../media/providers/live/contract.ts';
import type { TestAccount } from '../../harness/account.ts';
import type { FakeClient } from './fakes.ts';
import { stagesOfFile, type VoiceStage } from './stage.ts';

const open = stagesOfFile();
let stage: VoiceStage;
let account: TestAccount;
before(async () => {
  stage = await open();
  account = await stage.account();
});

const said = (itemId: string, text: string, final = false): LiveEvent => ({
  type: 'transcript',
  role: 'assistant',
  itemId,
  text,
  final,
});

/** What a client that follows the protocol shows: utterances, the last one perhaps not complete. */
function shown(client: FakeClient, role: string): string[] {
  const utterances: string[] = [];
  let partial = '';
  for (const event of client.of('transcript')) {
    if (event.role !== role) continue;
    if (event.final === true) utterances.push(String(event.text));
    partial = event.final === true ? '' : partial + String(event.text);
  }
  return [...utterances, partial];
}

async function leave(client: FakeClient): Promise<void> {
  client.leave();
  await stage.over(client);
}

test('an answer that is longer than can be kept loses nothing, however it ends', async () => {
  const parts = Array.from({ length: 90 }, (_, index) => `${index} `.padEnd(1_000, 'x'));
  const text = parts.join('');
  for (const end of ['barge-in', 'final', 'end'] as const) {
    const client = await stage.live(account);
    client.call?.says({ type: 'answer_started', itemId: 'a' });
    for (const part of parts) client.call?.says(said('a', part));
    if (end === 'barge-in') client.send({ type: 'barge_in' });
    if (end === 'final') client.call?.says(said('a', text, true));
    if (end === 'end') client.send({ type: 'end' });
    const utterances = shown(client, 'assistant');
    assert.equal(utterances.join(''), text, end);
    assert.equal(utterances.at(-1), '', 'all of it is final');
    if (end !== 'end') {
      client.call?.says(said('b', 'Next', true));
      assert.equal(shown(client, 'assistant').at(-2), 'Next');
    }
    await leave(client);
  }
});

test("a user's late transcript that is too long to be kept loses nothing", async () => {
  const client = await stage.live(account);
  const parts = Array.from({ length: 70 }, (_, index) => `${index} `.padEnd(1_000, 'x'));
  for (const text of parts) {
    const late = { type: 'transcript', role: 'user', itemId: 'u', final: false } as const;
    client.call?.says({ ...late, text, isLate: true });
  }
  client.send({ type: 'end' });
  assert.equal(shown(client, 'user').join(''), parts.join(''));
  assert.equal(shown(client, 'user').at(-1), '');
  await stage.over(client);
});

test('an answer that fails has its text so far as final, and the next one its own', async () => {
  for (const outcome of ['failed', 'incomplete', 'interrupted'] as const) {
    const client = await stage.live(account);
    client.call?.says({ type: 'answer_started', itemId: 'a' }, said('a', 'It is'));
    client.call?.says({ type: 'answer_done', outcome });
    client.call?.says({ type: 'answer_started', itemId: 'b' }, said('b', 'Well'));
    client.send({ type: 'barge_in' });
    assert.deepEqual(shown(client, 'assistant'), ['It is', 'Well', ''], outcome);
    const errors = client.of('error').map(({ code, retryable, fatal }) => [code, retryable, fatal]);
    assert.deepEqual(errors, outcome === 'failed' ? [['upstream_error', true, false]] : []);
    await leave(client);
  }
});

test('an item whose final text never came ends where the next one begins', async () => {
  const client = await stage.live(account);
  client.call?.says({ type: 'answer_started', itemId: 'a' }, said('a', 'One.'));
  client.call?.says(
    { type: 'answer_started', itemId: 'b' },
    said('b', 'Tw'),
    said('b', 'Two.', true),
  );
  assert.deepEqual(shown(client, 'assistant'), ['One.', 'Two.', '']);
  await leave(client);
});

test('a session that ends within an answer tells its text as final before', async () => {
  const client = await stage.live(account);
  client.call?.says({ type: 'answer_started', itemId: 'a' }, said('a', 'To be con'));
  client.call?.says({ type: 'failed', kind: 'closed', text: '1011' });
  await stage.over(client);
  assert.deepEqual(shown(client, 'assistant'), ['To be con', '']);
  assert.equal(client.told.at(-1)?.type, 'session.ended');
});

test('a text that no model says is cut: whole, it would cost the client its socket', async () => {
  const client = await stage.live(account);
  const huge = '🎙'.repeat(1_000_000);
  client.call?.says({ type: 'answer_started', itemId: 'a' });
  client.call?.says(said('a', huge));
  client.call?.says(said('a', huge, true));
  for (const isLate of [false, true]) {
    const user = { type: 'transcript', role: 'user', itemId: 'u', text: huge } as const;
    client.call?.says({ ...user, final: !isLate, ...(isLate ? { isLate } : {}) });
  }
  const call = { callId: huge, name: huge, argumentsJson: '{}' };
  client.call?.says({ type: 'tool_call', ...call });
  const events = [...client.of('transcript'), ...client.of('tool')];
  assert.ok(events.length >= 6, String(events.length));
  for (const event of events) {
    const text = JSON.stringify(event);
    assert.ok(text.length < 70_000, `${event.type}: ${text.length}`);
    assert.ok(!/\p{Surrogate}/u.test(text), 'whole characters');
  }
  await leave(client);
});
