// Answers whose format nobody could look at in time: not handed out as checked, and free.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { OutputFormat } from '../../../media/model/request.ts';
import { openStage, type Stage } from './stage.ts';

const outputFormat: OutputFormat = {
  type: 'json_schema',
  name: 'x',
  strict: true,
  schema: { type: 'object', properties: { a: { type: 'string', pattern: '^[a-z]+$' } } },
};
let verdict: boolean | null = null;
let stage: Stage;
before(async () => {
  stage = await openStage({ outputFormat, checkAnswer: async () => verdict });
});
after(() => stage?.close());

test('an answer that could not be checked is released, and its key is free again', async () => {
  const account = await stage.account();
  const prompt = '[[sim text={"a":"x"}]]';
  const end = await stage.ask(account, prompt, 'again');
  assert.ok(end.status === 'failed', end.status);
  assert.equal(end.problem.code, 'overloaded');
  assert.equal(end.problem.headers['x-should-retry'], undefined);
  assert.deepEqual(await account.quiet(), { availableMicros: 1_000_000_000n, heldMicros: 0n });
  verdict = true;
  assert.equal((await stage.ask(account, prompt, 'again')).status, 'completed');
  assert.ok((await account.quiet()).availableMicros < 1_000_000_000n);
});

test('an answer that breaks its format is still paid for', async () => {
  const account = await stage.account();
  verdict = false;
  const end = await stage.ask(account, '[[sim text={"a":"X"}]]');
  assert.ok(end.status === 'failed', end.status);
  assert.match(end.problem.message, /breaks the response format/);
  assert.ok((await account.quiet()).availableMicros < 1_000_000_000n);
});
