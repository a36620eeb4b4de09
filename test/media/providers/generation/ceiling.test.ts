// An answer cut at a ceiling that its provider does not take: words, calls, the end, the usage.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent } from '../../../../media/model/events.ts';
import { runEvent } from '../../../../media/model/text-run.ts';
import { zeroUsage } from '../../../../media/model/usage.ts';
import { CeilingCut } from '../../../../media/providers/generation/ceiling.ts';

const start: ModelEvent = { type: 'start' };
const stop: ModelEvent = { type: 'finish', reason: 'stop' };
const word: ModelEvent = { type: 'text', text: ' a', plain: true };
const thought: ModelEvent = { type: 'reasoning', text: ' r' };
const call: ModelEvent = { type: 'tool_call', index: 0, id: 'c', name: 'f' };

function usage(outputTokens: number, reasoningTokens: number): ModelEvent {
  return { type: 'usage', usage: { ...zeroUsage, inputTokens: 9, outputTokens, reasoningTokens } };
}

test('what is beyond the ceiling is left out, also between two reads', () => {
  const cut = new CeilingCut(3);
  assert.deepEqual(cut.keep([start, thought, word]), [start, thought, word]);
  const rest = [word, word, call, { type: 'native', format: 'responses', value: {} }] as const;
  assert.deepEqual(cut.keep(rest), [word]);
  assert.deepEqual(cut.keep([word, stop, usage(15, 1)]), [
    { type: 'finish', reason: 'length' },
    usage(2, 1),
  ]);
});

test('texts told at once are cut between two of them', () => {
  const cut = new CeilingCut(3);
  assert.deepEqual(cut.keep([word, runEvent([' a', ' a', ' b'], null)]), [word, word, word]);
  assert.deepEqual(cut.keep([stop]), [{ type: 'finish', reason: 'length' }]);
});

test('an answer within the ceiling is as it was, and so is its usage', () => {
  const events = [start, word, call, stop, usage(2, 0)];
  assert.deepEqual(new CeilingCut(2).keep(events), events);
  assert.deepEqual(new CeilingCut(2).keep([usage(9, 5)]), [usage(0, 2)]);
});
