// The tools that the server runs, at their bounds: how many at once, for how long, and how much of
// a stranger's words goes to the search and back to the model.
import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import type { SearchHit } from '../../../actors/search/web-search.ts';
import { voiceLimits } from '../../../actors/voice/limits.ts';
import type { TestAccount } from '../../harness/account.ts';
import { type FakeClient, untilAborted } from './fakes.ts';
import { stagesOfFile, until, type VoiceStage } from './stage.ts';

const open = stagesOfFile();
let stage: VoiceStage;
let account: TestAccount;
before(async () => {
  stage = await open({ search: async () => null });
  account = await stage.account();
});

async function live(members: Record<string, unknown> = {}): Promise<FakeClient> {
  const client = await stage.live(account, { tools_enabled: true, ...members });
  client.forget();
  return client;
}

function ask(client: FakeClient, callId: string, query: string): void {
  const argumentsJson = JSON.stringify({ query });
  client.call?.says({ type: 'tool_call', callId, name: 'web_search', argumentsJson });
}

const states = (client: FakeClient) => client.of('tool').map(({ id, state }) => `${id} ${state}`);

/** What the search is asked, and what it finds. */
function searches(t: TestContext, client: FakeClient, find: () => Promise<SearchHit[] | null>) {
  const asked: { query: string; locale: string | null }[] = [];
  t.mock.method(client.session.deps.search, 'search', async (_target: unknown, given: unknown) => {
    asked.push(given as { query: string; locale: string | null });
    return await find();
  });
  return asked;
}

test('a search that fails is told both ways, costs nothing, and the session goes on', async () => {
  const client = await live();
  ask(client, 'c', 'news');
  await until('it failed', () => client.call?.results.length === 1);
  assert.deepEqual(states(client), ['c started', 'c failed']);
  assert.deepEqual(Object.keys(client.call?.results[0]?.output ?? {}), ['error']);
  client.call?.says({ type: 'answer_done', outcome: 'completed' });
  assert.equal(client.types().at(-1), 'listening', 'nothing is waited for');
  client.send({ type: 'end' });
  const row = await stage.over(client);
  assert.deepEqual([row.reason, row.searches, row.charge], ['client_end', 0, null]);
});

test('what is asked and what is found are cut', async (t) => {
  const client = await live({ client_context: { locale: 'de-CH' } });
  const hit: SearchHit = { title: 'T', url: 'http://t', snippet: 'x'.repeat(900), date: null };
  const found = [...Array(8).fill(hit), hit];
  found[1] = { ...hit, snippet: 'short', date: '2026-11-25' };
  const asked = searches(t, client, async () => found);
  ask(client, 'c', `  what \n is ${'y'.repeat(900)}`);
  await until('it found', () => client.call?.results.length === 1);
  assert.deepEqual(asked, [{ query: `what is ${'y'.repeat(292)}`, locale: 'de-CH' }]);
  const results = client.call?.results[0]?.output.results as Record<string, unknown>[];
  assert.equal(results.length, 6);
  assert.deepEqual(results[0], { title: 'T', url: 'http://t', snippet: 'x'.repeat(500) });
  assert.deepEqual(results[1], { ...hit, snippet: 'short', date: '2026-11-25' });
  for (const query of ['', ' \n ']) ask(client, `empty ${query.length}`, query);
  assert.equal(asked.length, 1, 'nobody searches for nothing');
  await stage.leave(client);
  const plain = await live();
  ask(plain, 'c', 'news');
  assert.equal(asked.at(-1)?.locale, null);
  await until('it found', () => plain.call?.results.length === 1);
  await stage.leave(plain);
});

describe('searches that do not end', { concurrency: true }, () => {
  test('an answer that is given up with its call: nobody thinks, nothing is charged', async () => {
    const stage = await open({ search: untilAborted });
    const client = await stage.live(await stage.account(), { tools_enabled: true });
    for (const outcome of ['interrupted', 'incomplete', 'failed'] as const) {
      client.forget();
      ask(client, outcome, 'news');
      assert.equal(client.types().at(-1), 'thinking');
      // What a realtime upstream tells whose answer was the call alone, when the user speaks.
      client.call?.says({ type: 'speech_started' }, { type: 'answer_done', outcome });
      assert.deepEqual(states(client), [`${outcome} started`, `${outcome} failed`]);
      assert.equal(client.types().at(-1), 'listening', outcome);
    }
    const row = await stage.leave(client);
    assert.deepEqual([row.searches, row.charge], [0, null]);
  });

  test('eight at once, and then none', async () => {
    const stage = await open({ search: untilAborted });
    const client = await stage.live(await stage.account(), { tools_enabled: true });
    const { toolCallsMax } = voiceLimits;
    for (let call = 1; call <= toolCallsMax; call += 1) ask(client, `c${call}`, 'news');
    assert.ok(states(client).every((state) => state.endsWith('started')));
    ask(client, 'more', 'news');
    assert.deepEqual(states(client).slice(toolCallsMax), ['more started', 'more failed']);
    assert.deepEqual(client.call?.told, ['result more web_search']);
    await stage.leave(client);
  });

  test('ten seconds, and then the model goes on without', async () => {
    const stage = await open({ search: untilAborted });
    const client = await stage.live(await stage.account(), { tools_enabled: true });
    const begunMs = performance.now();
    ask(client, 'c', 'news');
    await until('it is given up', () => client.call?.results.length === 1, 60_000);
    assert.ok(performance.now() - begunMs > voiceLimits.toolMs - 10);
    assert.deepEqual(states(client), ['c started', 'c failed']);
    await stage.leave(client);
  });
});
