// What an upstream says is wrong goes to the log, whatever it says and however often.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { voiceLimits } from '../../../actors/voice/limits.ts';
import { stagesOfFile } from './stage.ts';

const open = stagesOfFile();
const { problemsLoggedMax } = voiceLimits;

test('of the problems of one session the first are logged and the rest counted', async (t) => {
  const stage = await open();
  const account = await stage.account();
  const client = await stage.live(account);
  const lines: unknown[][] = [];
  t.mock.method(client.session.deps.log, 'warn', (...line: unknown[]) => void lines.push(line));
  const problem = (index: number) => ({ type: 'problem', code: `c${index}`, text: 'x' }) as const;
  for (let index = 0; index < 1_000; index += 1) client.call?.says(problem(index));
  assert.equal(lines.length, problemsLoggedMax);
  client.send({ type: 'end' });
  await stage.over(client);
  const [[told] = []] = lines.slice(problemsLoggedMax);
  assert.equal(lines.length, problemsLoggedMax + 1);
  assert.deepEqual(Object(told).omitted, 1_000 - problemsLoggedMax);
  assert.equal(Object(told).session, client.id);

  const quiet = await stage.live(account);
  for (let index = 0; index < problemsLoggedMax; index += 1) quiet.call?.says(problem(index));
  quiet.leave();
  await stage.over(quiet);
  assert.equal(lines.length, 2 * problemsLoggedMax + 1, 'nothing was left out');
});
