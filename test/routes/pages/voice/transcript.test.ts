// The rules of 6.1: a delta is appended to its role's partial utterance, a final text replaces it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  closed,
  contextOf,
  type Transcript,
  withoutReserved,
  withReserved,
  withSpoken,
} from '../../../../routes/pages/voice/browser/transcript.ts';
import { fc } from '../../../harness/properties.ts';

const delta = (role: 'user' | 'assistant', text: string) =>
  ({ role, text, delta: true, final: false }) as const;
const final = (role: 'user' | 'assistant', text: string) =>
  ({ role, text, delta: false, final: true }) as const;
type Spoken = ReturnType<typeof delta> | ReturnType<typeof final>;
const told = (...events: Spoken[]): Transcript => events.reduce<Transcript>(withSpoken, []);
const said = (lines: Transcript) => lines.map(({ role, text, isFinal }) => [role, text, isFinal]);

test('a final text replaces the partial one and is not appended again', () => {
  const lines = told(delta('user', ' hea'), delta('user', 'rd 4'), final('user', 'heard 440'));
  assert.deepEqual(said(lines), [['user', 'heard 440', true]]);
});

test('the roles have a partial utterance each, whatever comes in between', () => {
  const lines = told(
    delta('user', 'what is'),
    delta('assistant', ' A tone'),
    delta('user', ' this'),
    final('user', 'What is this?'),
    delta('assistant', ' of 440'),
  );
  assert.deepEqual(said(lines), [
    ['user', 'What is this?', true],
    ['assistant', 'A tone of 440', false],
  ]);
});

test('after a final text the next delta begins another utterance', () => {
  const lines = told(final('user', 'one'), delta('user', 'two'));
  assert.deepEqual(said(lines), [
    ['user', 'one', true],
    ['user', 'two', false],
  ]);
});

test('what turned out to be nothing leaves nothing behind', () => {
  assert.deepEqual(told(delta('user', 'h'), final('user', '')), []);
  assert.deepEqual(told(final('assistant', ' ')), []);
});

test('what the user said stands before the answer, though it is written down later', () => {
  const lines = [delta('assistant', ' A'), delta('user', ' Wh'), final('user', ' What?')].reduce(
    withSpoken,
    withReserved([]),
  );
  assert.deepEqual(said(lines), [
    ['user', 'What?', true],
    ['assistant', 'A', false],
  ]);
  assert.deepEqual(withoutReserved(withReserved([])), []);
});

test('an utterance that the connection cut is closed as it stands', () => {
  assert.deepEqual(said(closed(told(delta('assistant', 'as I sa')))), [
    ['assistant', 'as I sa', true],
  ]);
});

test('the context of a renewed connection keeps every bound of the start message', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 6_000 });
  const role = fc.constantFrom('user' as const, 'assistant' as const);
  fc.assert(
    fc.property(fc.array(fc.tuple(role, text), { maxLength: 60 }), (spoken) => {
      const lines = told(...spoken.map(([who, words]) => final(who, words)));
      const context = contextOf(lines);
      assert.ok(context.length <= 40);
      const lengths = context.map(({ content }) => [...content].length);
      assert.ok(lengths.every((length) => length >= 1 && length <= 4_000));
      assert.ok(lengths.reduce((sum, length) => sum + length, 0) <= 12_000);
      assert.ok(context.every(({ content }) => content.trim() !== ''));
    }),
    { numRuns: 60 },
  );
});
