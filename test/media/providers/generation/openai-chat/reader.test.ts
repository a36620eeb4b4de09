// The reader on streams cut anywhere: every fixture at every byte, and random streams in random
// pieces against another parser. The template shortcut must never show.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createParser } from 'eventsource-parser';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import { ChatReader } from '../../../../../media/providers/generation/openai-chat/reader.ts';
import {
  emptyChatStream,
  endOfAnswer,
  readChunk,
} from '../../../../../media/providers/generation/openai-chat/stream.ts';
import { eventCharactersMax } from '../../../../../media/transport/sse.ts';
import { fc } from '../../../../harness/properties.ts';
import { testSeed } from '../../../../harness/seed.ts';
import {
  cutsOf,
  piecesOf,
  readWith,
  testEveryCut,
  testNoise,
} from '../../../transport/in-pieces.ts';
import { chunk, fixtures } from './fixtures.ts';

const seed = testSeed;

const createReader = () => new ChatReader();
const read = (pieces: readonly Uint8Array[]) => readWith(createReader(), pieces);

testEveryCut(fixtures, createReader);

test('every prefix of a good stream is a cut with the same events up to there', () => {
  const [fixture] = fixtures;
  assert.ok(fixture);
  const bytes = Buffer.from(fixture.body);
  for (let length = 0; length < bytes.length; length += 1) {
    const events = read([bytes.subarray(0, length)]);
    const last = events.pop();
    assert.deepEqual(events, fixture.events.slice(0, events.length));
    const ended = last?.type === 'failure' || last?.type === 'finish' || last?.type === 'usage';
    assert.ok(ended, `prefix of ${length} bytes ended with ${JSON.stringify(last)}`);
  }
});

interface TextChunk {
  /** Sometimes the same as the content: the shortcut must not take one for the other. */
  id: string;
  content: string;
  more: string;
  escaped: boolean;
  terminator: string;
  extra: Record<string, unknown> | null;
}

const member = fc.constantFrom('', ',"usage":null', ',"x":"y"', ',"system_fingerprint":"fp"');
const textChunk: fc.Arbitrary<TextChunk> = fc.record({
  id: fc.constantFrom('i', 'i', 'a'),
  content: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom('a', 'i', '"', '\\', '\n', 'content', '"content":"x"', '', '\ud800', '~'),
  ),
  more: member,
  escaped: fc.boolean(),
  terminator: fc.constantFrom('\n\n', '\r\n\r\n', '\r\r', '\n\n: note\n\n', '\n\n\n'),
  extra: fc.constantFrom(null, { logprobs: { content: [] } }, { refusal: '' }, { tool_calls: [] }),
});

/** The text with every character as an escape. */
function escapeAll(text: string): string {
  const unit = (at: number) => text.charCodeAt(at).toString(16).padStart(4, '0');
  return `"${Array.from({ length: text.length }, (_, at) => `\\u${unit(at)}`).join('')}"`;
}

function render(chunks: TextChunk[]): Buffer {
  const events = chunks.map(({ id, content, more, escaped, terminator, extra }) => {
    const literal = escaped ? escapeAll(content) : JSON.stringify(content);
    const beside = extra !== null && !('logprobs' in extra) ? JSON.stringify(extra) : '{}';
    const delta = `{"content":${literal}${beside === '{}' ? '' : `,${beside.slice(1, -1)}`}}`;
    const logprobs = extra !== null && 'logprobs' in extra ? '{"content":[]}' : 'null';
    const choice = `{"index":0,"delta":${delta},"logprobs":${logprobs},"finish_reason":null}`;
    return `data: {"id":"${id}","choices":[${choice}]${more}}${terminator}`;
  });
  return Buffer.from(`${events.join('')}data: [DONE]\n\n`);
}

/** The same meaning by another parser: no template, no own splitting of lines. */
function reference(bytes: Buffer): ModelEvent[] {
  const state = emptyChatStream();
  const events: ModelEvent[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') events.push(...endOfAnswer(state));
      else events.push(...readChunk(state, JSON.parse(data)));
    },
  });
  parser.feed(new TextDecoder().decode(bytes));
  return events;
}

test('random streams in random pieces mean what another parser says they mean', () => {
  fc.assert(
    fc.property(
      fc.array(textChunk, { minLength: 1, maxLength: 20 }),
      cutsOf(4000),
      (chunks, cuts) => {
        const bytes = render(chunks);
        assert.deepEqual(read(piecesOf(bytes, cuts)), reference(bytes));
      },
    ),
    { seed, numRuns: 1500 },
  );
});

testNoise(['d', 'a', 't', ':', ' ', '\n', '\r', '{', '}', '"', 'é'], createReader);

test('invalid UTF-8 in a text is replaced as the standard decoder does, in any pieces', () => {
  const [before, after] = chunk({ content: '@@' }).split('@@');
  assert.ok(before !== undefined && after !== undefined);
  fc.assert(
    fc.property(fc.uint8Array({ min: 0x80, minLength: 1, maxLength: 8 }), (content) => {
      const bytes = Buffer.concat([Buffer.from(before), content, Buffer.from(after)]);
      const wanted = new TextDecoder().decode(content);
      for (let cut = 0; cut <= bytes.length; cut += 1) {
        const events = read([bytes.subarray(0, cut), bytes.subarray(cut)]);
        assert.deepEqual(events[1], { type: 'text', text: wanted, plain: true });
      }
    }),
    { seed, numRuns: 100 },
  );
});

test('an event over the bound is garbage, on the shortcut too, in one piece or many', () => {
  const small = chunk({ content: 'a' });
  const huge = chunk({ content: 'x'.repeat(eventCharactersMax) });
  const bytes = Buffer.from(small + small + huge + small);
  const events = read([bytes]);
  assert.deepEqual(
    events.map((event) => event.type),
    ['start', 'text', 'text', 'failure'],
  );
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 1000) pieces.push(bytes.subarray(at, at + 1000));
  assert.deepEqual(read(pieces), events);
});

test('reports that it is finished at the terminator, and nothing after it', () => {
  const reader = new ChatReader();
  reader.push(Buffer.from(chunk({ content: 'a' })));
  assert.equal(reader.finished, false);
  reader.push(Buffer.from(`${chunk({}, 'stop')}data: [DONE]\n\n${chunk({ content: 'b' })}`));
  assert.equal(reader.finished, true);
  assert.deepEqual(reader.push(Buffer.from(chunk({ content: 'c' }))), []);
  assert.deepEqual(reader.end(), []);
});
