// Characters that a server has cut in two: told whole, wherever the cuts are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent } from '../../../../media/model/events.ts';
import { WholeCharacters } from '../../../../media/providers/generation/halves.ts';
import { fc } from '../../../harness/properties.ts';
import { testSeed } from '../../../harness/seed.ts';

const text = (said: string): ModelEvent => ({ type: 'text', text: said, plain: false });

test('a text is well formed in each delta, and all of it is what it would be uncut', () => {
  const unit = fc.constantFrom('a', 'é', '\ud83d', '\ude00', '\ufffd', '日');
  fc.assert(
    fc.property(fc.array(fc.string({ unit, minLength: 1, maxLength: 4 })), (deltas) => {
      const whole = new WholeCharacters();
      const told = [...deltas.flatMap((delta) => whole.keep([text(delta)]))];
      told.push(...whole.keep([{ type: 'finish', reason: 'stop' }]));
      const texts = told.flatMap((event) => (event.type === 'text' ? [event.text] : []));
      assert.ok(texts.every((each) => each !== '' && each.isWellFormed()));
      assert.equal(texts.join(''), deltas.join('').toWellFormed());
      assert.deepEqual(told.at(-1), { type: 'finish', reason: 'stop' });
    }),
    { seed: testSeed, numRuns: 1_000 },
  );
});

test('a half waits for what continues it, and for nothing else', () => {
  const whole = new WholeCharacters();
  const said = (index: number, words: string): ModelEvent => {
    return { type: 'tool_arguments', index, text: words };
  };
  const usage: ModelEvent = { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } as never };
  const events = [
    said(0, '{"a\ud83d'),
    usage,
    said(0, '\ude00"'),
    said(0, '\ud83d'),
    said(1, '\ude00'),
  ];
  assert.deepEqual(whole.keep(events), [
    said(0, '{"a'),
    usage,
    said(0, '😀"'),
    said(0, '\ufffd'),
    said(1, '\ufffd'),
  ]);
});

test('events with nothing cut are the same ones', () => {
  const events = [text('a😀'), { type: 'finish', reason: 'stop' } as const];
  assert.equal(new WholeCharacters().keep(events), events);
});
