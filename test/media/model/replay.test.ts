// An answer that remembers its cuts is told again event by event, from any run of events.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Answer,
  addToAnswer,
  answerEvents,
  emptyAnswer,
} from '../../../media/model/answer.ts';
import type { ModelEvent, Progress } from '../../../media/model/events.ts';
import {
  addProgress,
  keepCuts,
  progressParts,
  recut,
  replayParts,
} from '../../../media/model/replay.ts';
import { borderedRun, numberedNatives } from '../../harness/item-boundaries.ts';
import { fc } from '../../harness/properties.ts';

type Told = ModelEvent | { progress: Progress };

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const calls = fc.integer({ min: 0, max: 2 });

/** A call's arguments come after it: the rest may come in any order. */
const single: fc.Arbitrary<Told> = fc.oneof<fc.Arbitrary<Told>[]>(
  text.map((value) => ({ type: 'text', text: value, plain: false })),
  text.map((value) => ({ type: 'refusal', text: value })),
  text.map((value) => ({ type: 'reasoning', text: value })),
  fc.constant<Told>({ type: 'reasoning_end', format: 'messages', value: { signature: 's' } }),
  text.map((title) => ({
    type: 'citation',
    citation: { url: 'https://a', title, start: null, end: null },
  })),
  calls.map((index) => ({ type: 'tool_call', index, id: `call_${index}`, name: 'f' })),
  fc.tuple(calls, text).map(([index, value]): Told => {
    return { type: 'tool_arguments', index, text: value };
  }),
  fc.constant<Told>({ type: 'native', format: 'responses', value: { type: 'x' } }),
  text.map((detail) => ({ progress: { stage: 'search', state: 'started', detail } })),
);

const toldArbitrary: fc.Arbitrary<Told[]> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: single.map((entry) => [entry]) },
      { weight: 1, arbitrary: borderedRun.map((run): Told[] => run) },
    ),
    { maxLength: 60 },
  )
  .map((runs) => numberedNatives<Told>(keepPossible(runs.flat())));

/** Leaves out what no provider sends: a call twice, arguments of none, a citation of no text. */
function keepPossible(told: Told[]): Told[] {
  const seen = new Set<number>();
  let last = '';
  return told.filter((entry) => {
    if ('progress' in entry) return true;
    if (entry.type === 'tool_call') {
      if (seen.has(entry.index)) return false;
      seen.add(entry.index);
    }
    if (entry.type === 'tool_arguments') return seen.has(entry.index);
    if (entry.type === 'citation') return last === 'text';
    last = entry.type;
    return true;
  });
}

function answerOf(told: readonly Told[], kept: boolean): Answer {
  const answer = emptyAnswer();
  if (kept) keepCuts(answer);
  for (const entry of told) {
    if ('progress' in entry) addProgress(answer, entry.progress);
    else addToAnswer(answer, entry);
  }
  return answer;
}

test('an answer with cuts is told again as it came, also from its JSON', () => {
  fc.assert(
    fc.property(toldArbitrary, (told) => {
      const stored = JSON.parse(JSON.stringify(answerOf(told, true))) as Answer;
      const again = replayParts(stored).flatMap((part): Told[] =>
        'events' in part ? part.events : [part],
      );
      assert.deepEqual(again, [{ type: 'start' }, ...told]);
    }),
    { numRuns: 1_000 },
  );
});

test('cuts change nothing of the answer itself', () => {
  fc.assert(
    fc.property(toldArbitrary, (told) => {
      const plain = answerOf(told, false);
      const { cuts: _cuts, ...kept } = answerOf(told, true);
      assert.deepEqual(kept, plain);
      assert.deepEqual(replayParts(plain), [{ events: answerEvents(plain) }]);
    }),
  );
});

test('an answer that was withheld is told whole behind all progress, or not at all', () => {
  const flat = (parts: ReturnType<typeof replayParts>) =>
    parts.flatMap((part): Told[] => ('events' in part ? part.events : [part]));
  fc.assert(
    fc.property(toldArbitrary, (told) => {
      const progress = told.filter((entry) => 'progress' in entry);
      const shown = answerOf(told, true);
      const whole = answerEvents(shown);
      recut(shown, true);
      assert.deepEqual(flat(replayParts(shown)), [whole[0], ...progress, ...whole.slice(1)]);
      const hidden = answerOf(told, true);
      recut(hidden, false);
      assert.deepEqual(flat(replayParts(hidden)), [{ type: 'start' }, ...progress]);
      assert.deepEqual(flat(progressParts(hidden)), [{ type: 'start' }, ...progress]);
    }),
  );
});

test('without cuts the deltas of a native item are one', () => {
  const native = { index: 0, format: 'responses' as const };
  const told = ['a', 'b', 'c'].map((delta): Told => {
    return { type: 'native_event', ...native, value: { type: 'x.delta', delta } };
  });
  const begun: Told = { type: 'native_begin', ...native, value: { type: 'x' } };
  const ended: Told = { type: 'native', ...native, value: { type: 'x', input: 'abc' } };
  const other: Told = { type: 'native_event', ...native, value: { type: 'x.done' } };
  const answer = answerOf([begun, ...told, other, ...told, ended], false);
  const joined: Told = {
    type: 'native_event',
    ...native,
    value: { type: 'x.delta', delta: 'abc' },
  };
  const whole = [{ type: 'start' }, begun, joined, other, joined, ended];
  assert.deepEqual(answerEvents(answer), whole);
});

test('the cuts of a long answer cost a few bytes a delta', () => {
  const answer = answerOf(
    Array.from({ length: 10_000 }, (): Told => ({ type: 'text', text: ' token', plain: true })),
    true,
  );
  const bare = answerOf([{ type: 'text', text: ' token'.repeat(10_000), plain: true }], false);
  const added = JSON.stringify(answer).length - JSON.stringify(bare).length;
  assert.ok(added < 2.2 * 10_000, `${added} bytes for 10,000 deltas`);
});
