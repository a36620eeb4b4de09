// The reader on streams cut anywhere: every fixture at every byte, random streams in random pieces
// against another parser, and our own encoder's streams. The template shortcut must never show.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createParser } from 'eventsource-parser';
import { addToAnswer, emptyAnswer } from '../../../../../media/model/answer.ts';
import { responsesDialect } from '../../../../../media/model/dialects/responses/dialect.ts';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import { ResponsesReader } from '../../../../../media/providers/generation/openai-responses/reader.ts';
import {
  emptyResponsesStream,
  readEvent,
} from '../../../../../media/providers/generation/openai-responses/stream.ts';
import { eventCharactersMax } from '../../../../../media/transport/sse.ts';
import { fc } from '../../../../harness/properties.ts';
import { testSeed } from '../../../../harness/seed.ts';
import { answerOf, encode, someEvents, usage } from '../../../model/dialects/responses/events.ts';
import {
  cutsOf,
  piecesOf,
  readWith,
  testEveryCut,
  testNoise,
} from '../../../transport/in-pieces.ts';
import { fixtures, response, stream } from './fixtures.ts';

const seed = testSeed;

const createReader = () => new ResponsesReader();
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
    const ended = last?.type === 'failure' || last?.type === 'usage';
    assert.ok(ended, `prefix of ${length} bytes ended with ${JSON.stringify(last)}`);
  }
});

interface TextDelta {
  /** Sometimes the same as the delta: the shortcut must not take one for the other. */
  id: string;
  delta: string;
  index: number;
  /** Where the number stands; some servers send none. */
  number: 'first' | 'last' | 'none' | 'zero';
  more: string;
  terminator: string;
}

const textDelta: fc.Arbitrary<TextDelta> = fc.record({
  id: fc.constantFrom('i', 'i', 'a'),
  delta: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom('a', 'i', '"', '\\', '\n', 'delta', '"sequence_number":7', '', '\ud800', '~'),
  ),
  index: fc.constantFrom(0, 0, 0, 1),
  number: fc.constantFrom('first', 'first', 'first', 'last', 'none', 'zero'),
  more: fc.constantFrom('', '', ',"x":"y"', ',"obfuscation":"abc"', ',"sequence_number":4'),
  terminator: fc.constantFrom('\n\n', '\n\n', '\r\n\r\n', '\n\n: note\n\n', '\n\n\n'),
});

function render(deltas: TextDelta[]): Buffer {
  const events = deltas.map(({ id, delta, index, number, more, terminator }, at) => {
    const sequence = `"sequence_number":${at * 7}`;
    const zero = number === 'zero' ? '"sequence_number":0,' : '';
    const first = number === 'first' ? `${sequence},` : zero;
    const last = number === 'last' ? `,${sequence}` : '';
    const place = `"item_id":"${id}","output_index":${index},"content_index":0`;
    const text = `"delta":${JSON.stringify(delta)},"logprobs":[]`;
    const type = 'response.output_text.delta';
    const data = `{"type":"${type}",${first}${place},${text}${more}${last}}`;
    return `event: ${type}\ndata: ${data}${terminator}`;
  });
  return Buffer.from(events.join('') + stream(['completed', response('completed')]));
}

/** The same meaning by another parser: no template, no own splitting of lines. */
function reference(bytes: Buffer): ModelEvent[] {
  const state = emptyResponsesStream();
  const events: ModelEvent[] = [];
  const parser = createParser({
    onEvent: ({ data, event }) => {
      events.push(...readEvent(state, JSON.parse(data), event ?? ''));
    },
  });
  parser.feed(new TextDecoder().decode(bytes));
  return events;
}

test('random streams in random pieces mean what another parser says they mean', () => {
  fc.assert(
    fc.property(
      fc.array(textDelta, { minLength: 1, maxLength: 20 }),
      cutsOf(4000),
      (deltas, cuts) => {
        const bytes = render(deltas);
        assert.deepEqual(read(piecesOf(bytes, cuts)), reference(bytes));
      },
    ),
    { seed, numRuns: 1500 },
  );
});

testNoise(['d', 'a', 't', ':', ' ', '\n', '\r', '{', '}', '"', 'é'], createReader);

test('any members of any type never throw', () => {
  const types = fixtures.flatMap(({ body }) => [...body.matchAll(/^event: (.*)$/gm)]);
  const names = [...new Set(types.map(([, name]) => name ?? ''))];
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...names), fc.anything())), (events) => {
      const state = emptyResponsesStream();
      for (const [type, value] of events) {
        const members = { item: value, part: value, response: value, annotation: value };
        const numbers = { output_index: value, content_index: value, delta: value, text: value };
        readEvent(state, { type, ...members, ...numbers }, '');
        readEvent(state, { type, item: { type: 'message', content: [value] } }, '');
        readEvent(state, { type, item: { type: 'reasoning', summary: value } }, '');
      }
    }),
    { seed, numRuns: 500 },
  );
});

test('our own streams are read back as the answer that they were written from', () => {
  fc.assert(
    fc.property(someEvents, fc.integer({ min: 1, max: 997 }), (events, piece) => {
      const own = events.filter((event) => !('format' in event) || event.format === 'responses');
      const all: ModelEvent[] = [...own, { type: 'finish', reason: 'length' }];
      const body = { include: ['reasoning.encrypted_content'] };
      const bytes = Buffer.from(encode(all, { body, between: responsesDialect.keepAlive }));
      const reader = new ResponsesReader();
      const answer = emptyAnswer();
      const told: ModelEvent[] = [];
      for (let at = 0; at < bytes.length; at += piece) {
        told.push(...reader.push(bytes.subarray(at, at + piece)));
      }
      assert.ok(reader.finished);
      const searchCalls = all.filter((event) => event.type === 'native').length;
      assert.deepEqual(told.at(-1), { type: 'usage', usage: { ...usage, searchCalls } });
      for (const event of told) addToAnswer(answer, event);
      assert.deepEqual(textsOf(answer.items), textsOf(answerOf(all).items));
    }),
    { seed, numRuns: 500 },
  );
});

/** What was said, in its order; seals and ids are written anew on the way. */
function textsOf(items: ReturnType<typeof emptyAnswer>['items']): unknown[] {
  return items.map((item) => {
    switch (item.type) {
      case 'native':
        return [item.type, item.value.type];
      case 'tool_call':
        return [item.type, item.id, item.name, item.arguments];
      case 'text':
        return [item.type, item.text, item.citations.length];
      default:
        return [item.type, item.text];
    }
  });
}

test('events that repeat long instructions are read, whatever pieces they come in', () => {
  const instructions = 'x'.repeat(5_000_000);
  const long = (status: string) =>
    [status, { response: { id: 'r', status, instructions, output: [] } }] as [
      string,
      Record<string, unknown>,
    ];
  const delta = { item_id: 'm', output_index: 0, content_index: 0, delta: 'a' };
  const bytes = Buffer.from(
    stream(long('created'), ['output_text.delta', delta], long('completed')),
  );
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 65_536) pieces.push(bytes.subarray(at, at + 65_536));
  const types = read(pieces).map((event) => event.type);
  assert.ok(types.includes('text') && !types.includes('failure'), types.join());
});

test('what repeats the request says that the stream has begun, and is not parsed', () => {
  for (const type of ['response.created', 'response.in_progress', 'response.queued']) {
    const named = `event: ${type}\ndata: {"type":"${type}","response":{ no JSON\n\n`;
    assert.deepEqual(new ResponsesReader().push(Buffer.from(named)), [{ type: 'start' }], type);
  }
  // Whoever names an event otherwise than its data does is believed in the data alone.
  const failed = 'event: response.created\ndata: {"type":"error","message":"no"}\n\n';
  const [told] = new ResponsesReader().push(Buffer.from(failed));
  assert.equal(told?.type, 'failure');
});

test('an event over the bound is garbage, on the shortcut too, in one piece or many', () => {
  const place = { item_id: 'm', output_index: 0, content_index: 0 };
  const delta = (value: string) =>
    ['output_text.delta', { ...place, delta: value }] as [string, Record<string, unknown>];
  const small = delta('a');
  const bytes = Buffer.from(stream(small, small, small, delta('x'.repeat(eventCharactersMax))));
  const events = read([bytes]);
  assert.deepEqual(
    events.map((event) => event.type),
    ['start', 'text', 'text', 'text', 'failure'],
  );
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 1000) pieces.push(bytes.subarray(at, at + 1000));
  assert.deepEqual(read(pieces), events);
});

test('reports that it is finished at the terminal event, and nothing after it', () => {
  const reader = new ResponsesReader();
  const text = ['output_text.delta', { output_index: 0, delta: 'a' }] as const;
  reader.push(Buffer.from(stream([...text])));
  assert.equal(reader.finished, false);
  reader.push(Buffer.from(stream(['completed', response('completed')], [...text])));
  assert.equal(reader.finished, true);
  assert.deepEqual(reader.push(Buffer.from(stream([...text]))), []);
  assert.deepEqual(reader.end(), []);
});
