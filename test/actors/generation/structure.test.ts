// Fences around a structured answer: taken away whole, and in no time whatever stands within.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unfence } from '../../../actors/generation/structure.ts';
import { addToAnswer, answerText, emptyAnswer } from '../../../media/model/answer.ts';
import { cpuMsOf } from '../../harness/stopwatch.ts';

function unfenced(text: string): string {
  const answer = emptyAnswer();
  addToAnswer(answer, { type: 'text', text, plain: true });
  unfence(answer);
  return answerText(answer);
}

test('a fence is taken away with the blanks at its ends, anything else stays as it is', () => {
  const fenced = ['```json\n{}\n```', ' \n```\n{} \n ```\n', '```JSON {}```'];
  for (const text of fenced) assert.equal(unfenced(text), '{}', text);
  assert.equal(unfenced('```json ```'), '');
  assert.equal(unfenced('```json\n\n{"a":"```"}```'), '\n{"a":"```"}');
  const others = ['{}', ' {} ', '```json\n{}', '{}\n```', '```', '``````', '```js\n{}\n```'];
  for (const text of others) assert.equal(unfenced(text), text);
});

test('an endless run of blanks holds nobody up: models fall into them', async () => {
  const text = `\`\`\`json\n{"a":${' '.repeat(100_000)}1}`;
  // It is a fraction of a millisecond; by the square of the blanks it was 15 s and more.
  const cpuMs = await cpuMsOf(() => assert.equal(unfenced(text), text));
  assert.ok(cpuMs < 2_000, `${cpuMs} ms of CPU`);
});
