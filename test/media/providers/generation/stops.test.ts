// An answer that ends before a stop sequence which its provider does not watch for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent } from '../../../../media/model/events.ts';
import { runEvent } from '../../../../media/model/text-run.ts';
import { zeroUsage } from '../../../../media/model/usage.ts';
import { StopCut } from '../../../../media/providers/generation/stops.ts';
import { fc } from '../../../harness/properties.ts';
import { testSeed } from '../../../harness/seed.ts';
import { cpuMsOf } from '../../../harness/stopwatch.ts';

const end: ModelEvent = { type: 'finish', reason: 'length' };

function words(text: string): ModelEvent {
  return { type: 'text', text, plain: true };
}

function read(sequences: string[], deltas: string[]): { text: string; last: ModelEvent } {
  const cut = new StopCut(sequences);
  const events = deltas.flatMap((delta) => cut.keep([words(delta)])).concat(cut.keep([end]));
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  return { text, last: events.at(-1) ?? end };
}

/** What is in front of the sequence that is whole first. */
function wantedOf(text: string, sequences: string[]): { text: string; last: ModelEvent } {
  for (let length = 1; length <= text.length; length += 1) {
    const said = text.slice(0, length);
    const there = sequences.filter((one) => said.endsWith(one));
    const [stopSequence] = there.sort((left, right) => right.length - left.length);
    if (stopSequence === undefined) continue;
    const last: ModelEvent = { type: 'finish', reason: 'stop', stopSequence };
    return { text: said.slice(0, -stopSequence.length), last };
  }
  return { text, last: end };
}

test('texts told at once are cut within one of them', () => {
  const cut = new StopCut(['stop']);
  const kept = cut.keep([runEvent(['one ', 'two st', 'op'], null), end]);
  const finish: ModelEvent = { type: 'finish', reason: 'stop', stopSequence: 'stop' };
  assert.deepEqual(kept, [words('one '), words('two '), finish]);
});

test('the first sequence ends the answer, however its text is cut into deltas', () => {
  const piece = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 3 }),
      fc.array(piece, { maxLength: 12 }),
      (sequences, deltas) => {
        assert.deepEqual(read(sequences, deltas), wantedOf(deltas.join(''), sequences));
      },
    ),
    { seed: testSeed, numRuns: 2_000 },
  );
});

test('only what may begin a sequence waits for what follows', () => {
  const cut = new StopCut(['\nObservation:']);
  assert.deepEqual(cut.keep([words('Look')]), [words('Look')]);
  assert.deepEqual(cut.keep([words('.\nOb')]), [words('.')]);
  const scored: ModelEvent = { type: 'extra', format: 'chat', delta: {}, choice: {} };
  assert.deepEqual(cut.keep([scored]), []);
  assert.deepEqual(cut.keep([words('ject')]), [words('\nOb'), scored, words('ject')]);
  assert.equal(cut.ended, false);
  const call: ModelEvent = { type: 'tool_call', index: 0, id: 'c', name: 'f' };
  assert.deepEqual(cut.keep([words('\n'), call]), [words('\n'), call]);
  const stop: ModelEvent = { type: 'finish', reason: 'stop', stopSequence: '\nObservation:' };
  assert.deepEqual(cut.keep([words('So.\nObservation: 4')]), [words('So.'), stop]);
  assert.equal(cut.ended, true);
});

test('an answer that begins with a sequence is read on: what it used is reported', () => {
  const cut = new StopCut(['So']);
  const stop: ModelEvent = { type: 'finish', reason: 'stop', stopSequence: 'So' };
  assert.deepEqual(cut.keep([words('So.')]), [stop]);
  assert.equal(cut.ended, false);
  const usage = { ...zeroUsage, inputTokens: 9, outputTokens: 5, reasoningTokens: 2 };
  assert.deepEqual(cut.keep([words(' More.'), end, { type: 'usage', usage }]), [
    { type: 'usage', usage: { ...usage, outputTokens: 0 } },
  ]);
});

test('the length of a sequence and of what it held back makes no difference', async () => {
  const count = 4_000;
  const long = 'a'.repeat(count);
  // Each delta ends with a beginning of all of them, which the first ones leave in their middle.
  const sequences = Array.from({ length: 63 }, (_, at) => `${long.slice(at + 2_000)}c${long}`);
  const cpuMs = await cpuMsOf(() => {
    const { text, last } = read([...sequences, `${long}b`], [...long, 'b']);
    assert.deepEqual(
      [text, last],
      ['', { type: 'finish', reason: 'stop', stopSequence: `${long}b` }],
    );
  });
  assert.ok(cpuMs < 2_000, `${Math.round(cpuMs)} ms of CPU`);
});
