// The reader on streams cut anywhere: every fixture at every byte, and random streams in random
// pieces against another parser. The template shortcut must never show.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createParser } from 'eventsource-parser';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import { singles } from '../../../../../media/model/text-run.ts';
import { GeminiReader } from '../../../../../media/providers/generation/gemini/reader.ts';
import {
  emptyGeminiStream,
  endOfAnswer,
  readEvent,
} from '../../../../../media/providers/generation/gemini/stream.ts';
import { fc } from '../../../../harness/properties.ts';
import { testSeed } from '../../../../harness/seed.ts';
import {
  cutsOf,
  piecesOf,
  readWith,
  testEveryCut,
  testNoise,
} from '../../../transport/in-pieces.ts';
import { chunk, fixtures, madeId } from './fixtures.ts';

const seed = testSeed;
const five = {
  inputTokens: 5,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  searchCalls: 0,
};

const createReader = () => new GeminiReader(emptyGeminiStream(() => madeId));
const read = (pieces: readonly Uint8Array[]) => readWith(createReader(), pieces);

testEveryCut(fixtures, createReader);

test('every prefix of a good stream is a cut with the same events up to there', () => {
  const [fixture] = fixtures;
  assert.ok(fixture);
  const bytes = Buffer.from(fixture.body);
  for (let length = 0; length < bytes.length - 2; length += 1) {
    const events = read([bytes.subarray(0, length)]);
    const last = events.pop();
    assert.deepEqual(events, fixture.events.slice(0, events.length));
    assert.ok(last?.type === 'failure' && last.failure.kind === 'cut', `prefix of ${length}`);
  }
});

test('running counts are read without parsing, and mean the same', () => {
  const count = fc.oneof(fc.nat(12), fc.constantFrom(999, 123_456_789_012));
  const counted = fc.record({
    content: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 6 }), fc.constantFrom(' a', '"')),
    prompt: fc.constantFrom(5, 5, 6),
    candidates: count,
    thoughts: fc.option(count, { nil: undefined, freq: 3 }),
  });
  fc.assert(
    fc.property(fc.array(counted, { minLength: 3, maxLength: 40 }), (chunks) => {
      const events = chunks.map(({ content, prompt, candidates, thoughts }) => {
        const usageMetadata = {
          promptTokenCount: prompt,
          candidatesTokenCount: candidates,
          thoughtsTokenCount: thoughts,
          totalTokenCount: prompt + candidates,
          promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
        };
        return chunk([{ text: content }], {}, { usageMetadata });
      });
      const bytes = Buffer.from(events.join('') + chunk([], { finishReason: 'STOP' }));
      const told = reference(bytes);
      assert.deepEqual(lastCounts(read([bytes])), lastCounts(told));
      const singly = [...events, chunk([], { finishReason: 'STOP' })];
      assert.deepEqual(read(singly.map((event) => Buffer.from(event))), told, 'one a read');
    }),
    { seed, numRuns: 1000 },
  );
});

function counted(text: string, candidates: number): string {
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: candidates };
  return chunk([{ text }], {}, { usageMetadata });
}

const textsOf = (events: readonly ModelEvent[]) =>
  singles(events).flatMap((event) => (event.type === 'text' ? [event.text] : []));

test('texts with and without counts keep their order', () => {
  const reader = createReader();
  const push = (...events: string[]) => reader.push(Buffer.from(events.join('')));
  // Both kinds are known by then.
  for (const text of ['a', 'b', 'c']) push(chunk([{ text }]));
  for (const text of ['d', 'e', 'f']) push(counted(text, 1));
  const mixed = [counted('g', 2), chunk([{ text: 'h' }]), counted('i', 3), chunk([{ text: 'j' }])];
  assert.deepEqual(textsOf(push(...mixed, counted('k', 4), counted('l', 5))), [...'ghijkl']);
});

/** Of the counts among texts that follow each other the last alone, behind them. */
function lastCounts(events: readonly ModelEvent[]): ModelEvent[] {
  const told: ModelEvent[] = [];
  let count: ModelEvent | null = null;
  for (const event of events) {
    if (event.type === 'usage') count = event;
    else {
      if (event.type !== 'text' && count !== null) told.push(count);
      if (event.type !== 'text') count = null;
      told.push(event);
    }
  }
  return count === null ? told : [...told, count];
}

test('of the events of one read the texts are one, and the last count is told behind them', () => {
  const reader = createReader();
  const push = (...events: string[]) => reader.push(Buffer.from(events.join('')));
  for (const [index, text] of ['a', 'b', 'c'].entries()) push(counted(text, index + 1));
  const usage = (outputTokens: number) => ({ type: 'usage', usage: { ...five, outputTokens } });
  assert.deepEqual(push(counted('d', 4), counted('e', 5), counted('f', 6)), [
    { type: 'text', text: 'def', plain: true, run: { pieces: ['d', 'e', 'f'], framed: null } },
    usage(6),
  ]);
  assert.deepEqual(push(counted('g', 7)), [{ type: 'text', text: 'g', plain: true }, usage(7)]);
  // One that matches up to its last character takes nothing from the counts before it.
  const [text, count, failure] = push(counted('h', 8), `${counted('i', 9).trim()} x\r\n\r\n`);
  assert.deepEqual([text, count], [{ type: 'text', text: 'h', plain: true }, usage(8)]);
  assert.ok(failure?.type === 'failure' && failure.failure.kind === 'garbage');
});

interface TextChunk {
  content: string;
  candidate: Record<string, unknown>;
  more: Record<string, unknown>;
  terminator: string;
}

const textChunk: fc.Arbitrary<TextChunk> = fc.record({
  content: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom('a', 'm-1', '"', '\\', '\n', 'text', '"text":"x"', '', '\ud800', '~'),
  ),
  candidate: fc.constantFrom<Record<string, unknown>[]>(
    {},
    {},
    { safetyRatings: [] },
    { finishReason: 'STOP' },
    { groundingMetadata: { webSearchQueries: ['a'] } },
  ),
  more: fc.constantFrom<Record<string, unknown>[]>(
    {},
    {},
    { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 } },
    { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 3, totalTokenCount: 4 } },
    { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 70, totalTokenCount: 80 } },
    { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 0, totalTokenCount: 1.5 } },
    { usageMetadata: { promptTokenCount: 1, details: [{ candidatesTokenCount: 4 }] } },
    { unknown: 'a' },
    { responseId: 'other' },
  ),
  terminator: fc.constantFrom('\n\n', '\r\n\r\n', '\r\r', '\n\n: note\n\n', '\n\n\n'),
});

function render(chunks: TextChunk[]): Buffer {
  const events = chunks.map(({ content, candidate, more, terminator }) =>
    chunk([{ text: content }], candidate, more).replace(/\r\n\r\n$/, terminator),
  );
  return Buffer.from(`${events.join('')}${chunk([], { finishReason: 'STOP' })}`);
}

/** The same meaning by another parser: no template, no own splitting of lines. */
function reference(bytes: Buffer): ModelEvent[] {
  const state = emptyGeminiStream(() => madeId);
  const events: ModelEvent[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      events.push(...readEvent(state, JSON.parse(data)));
    },
  });
  parser.feed(new TextDecoder().decode(bytes));
  return [...events, ...endOfAnswer(state)];
}

test('random streams in random pieces mean what another parser says they mean', () => {
  fc.assert(
    fc.property(
      fc.array(textChunk, { minLength: 1, maxLength: 20 }),
      cutsOf(6000),
      (chunks, cuts) => {
        const bytes = render(chunks);
        assert.deepEqual(read(piecesOf(bytes, cuts)), reference(bytes));
      },
    ),
    { seed, numRuns: 1500 },
  );
});

testNoise(['d', 'a', 't', ':', ' ', '\n', '\r', '{', '}', '[', '"'], createReader);

test('the ids that it makes are unique in an answer and over answers', () => {
  const body = Buffer.from(
    chunk([{ functionCall: { name: 'f' } }, { functionCall: { name: 'f' } }]),
  );
  const ids = [0, 1, 2].flatMap(() =>
    new GeminiReader().push(body).flatMap((event) => (event.type === 'tool_call' ? event.id : [])),
  );
  assert.equal(new Set(ids).size, 6);
  for (const id of ids) assert.match(id, /^[A-Za-z0-9_-]{1,40}$/);
});
