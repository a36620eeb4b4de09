// The reader on streams cut anywhere: every fixture at every byte, and random streams in random
// pieces against another parser. The template shortcut must never show.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createParser } from 'eventsource-parser';
import { addToAnswer, emptyAnswer } from '../../../../../media/model/answer.ts';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import { anthropicMessages } from '../../../../../media/providers/generation/anthropic-messages/family.ts';
import { MessagesReader } from '../../../../../media/providers/generation/anthropic-messages/reader.ts';
import {
  emptyMessagesStream,
  endOfAnswer,
  readEvent,
} from '../../../../../media/providers/generation/anthropic-messages/stream.ts';
import type { ClientFormat } from '../../../../../media/providers/generation/contract.ts';
import { eventCharactersMax } from '../../../../../media/transport/sse.ts';
import { fc } from '../../../../harness/properties.ts';
import { testSeed } from '../../../../harness/seed.ts';
import { cutsOf, piecesOf, readWith, testEveryCut } from '../../../transport/in-pieces.ts';
import { closed, fixtures, opened, sse } from './fixtures.ts';

const seed = testSeed;

const read = (pieces: readonly Uint8Array[], format?: ClientFormat) =>
  readWith(new MessagesReader(format), pieces);

testEveryCut(fixtures, () => new MessagesReader());

interface Piece {
  index: number;
  text: string;
  kind: 'text' | 'thinking' | 'stop' | 'start';
  more: string;
  escaped: boolean;
  terminator: string;
}

const piece: fc.Arbitrary<Piece> = fc.record({
  index: fc.nat(2),
  text: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom('a', 'text', '"', '\\', '\n', '"text":"x"', '', '\ud800', '~', '0'),
  ),
  kind: fc.constantFrom('text', 'text', 'text', 'text', 'text', 'thinking', 'stop', 'start'),
  more: fc.constantFrom('', '', ',"x":"y"', ',"text":"a"'),
  escaped: fc.boolean(),
  terminator: fc.constantFrom('\n\n', '\n\n', '\r\n\r\n', '\r\r', '\n\n: note\n\n'),
});

/** The text with every character as an escape. */
function escapeAll(text: string): string {
  const unit = (at: number) => text.charCodeAt(at).toString(16).padStart(4, '0');
  return `"${Array.from({ length: text.length }, (_, at) => `\\u${unit(at)}`).join('')}"`;
}

/**
 * Blocks 0 and 2 are text, 1 is thinking; deltas of the wrong kind mean nothing, nor do those of a
 * block that has ended or that began anew as another kind.
 */
function render(pieces: readonly Piece[]): Buffer {
  const blocks = [
    { type: 'text', text: '' },
    { type: 'thinking', thinking: '' },
    { type: 'text', text: '' },
  ];
  const begun = blocks.map((content_block, index) =>
    sse('content_block_start', { index, content_block }),
  );
  const events = pieces.map(({ index, text, kind, more, escaped, terminator }) => {
    if (kind === 'stop') return sse('content_block_stop', { index });
    const content_block = blocks[escaped ? 1 : 0];
    if (kind === 'start') return sse('content_block_start', { index, content_block });
    const literal = escaped ? escapeAll(text) : JSON.stringify(text);
    const delta = `"delta":{"type":"${kind}_delta","${kind}":${literal}}${more}`;
    const data = `{"type":"content_block_delta","index":${index},${delta}}`;
    return `event: content_block_delta\ndata: ${data}${terminator}`;
  });
  return Buffer.from(opened() + begun.join('') + events.join('') + closed('end_turn'));
}

/** The same meaning by another parser: no template, no own splitting of lines. */
function reference(bytes: Buffer, format: ClientFormat): ModelEvent[] {
  const state = emptyMessagesStream(format);
  const events: ModelEvent[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      const event = JSON.parse(data) as { type: string };
      events.push(
        ...(event.type === 'message_stop' ? endOfAnswer(state) : readEvent(state, event)),
      );
    },
  });
  parser.feed(new TextDecoder().decode(bytes));
  return events;
}

test('random streams in random pieces mean what another parser says they mean', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<ClientFormat>('chat', 'messages'),
      fc.array(piece, { minLength: 1, maxLength: 20 }),
      cutsOf(6000),
      (format, pieces, cuts) => {
        const bytes = render(pieces);
        assert.deepEqual(read(piecesOf(bytes, cuts), format), reference(bytes, format));
      },
    ),
    { seed, numRuns: 2_000 },
  );
});

test('what the first event says of the output is never a report', () => {
  const body = opened({ input_tokens: 9, output_tokens: 1 });
  const events = read([Buffer.from(body)]);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['start', 'failure'],
  );
});

test('what a compaction took is counted, though the totals of the format leave it out', () => {
  const counts = { cache_read_input_tokens: 1, cache_creation_input_tokens: 2 };
  const entry = { ...counts, input_tokens: 100, output_tokens: 20 };
  const usage = {
    input_tokens: 9,
    output_tokens: 5,
    iterations: [
      { type: 'compaction', ...entry },
      { type: 'message', ...entry, model: 'm' },
    ],
  };
  const events = read([Buffer.from(opened() + closed('end_turn', usage))]);
  assert.deepEqual(
    events.find((event) => event.type === 'usage'),
    {
      type: 'usage',
      usage: {
        inputTokens: 109,
        cachedInputTokens: 1,
        cacheWriteTokens: 2,
        outputTokens: 25,
        reasoningTokens: 0,
        searchCalls: 0,
      },
    },
  );
});

test('the answer knows how its format ended it', () => {
  const answer = emptyAnswer();
  const body = opened() + closed('pause_turn', null, { container: { id: 'c' } });
  for (const event of read([Buffer.from(body)])) addToAnswer(answer, event);
  assert.equal(answer.finishReason, 'stop');
  assert.deepEqual(answer.finishNative?.value, {
    stop_reason: 'pause_turn',
    container: { id: 'c' },
  });
});

test('an event over the bound ends the stream', () => {
  const reader = new MessagesReader();
  const long = 'x'.repeat(eventCharactersMax + 10);
  const [, event] = [
    ...reader.push(Buffer.from(opened())),
    ...reader.push(Buffer.from(`data: ${long}`)),
  ];
  assert.ok(event?.type === 'failure' && event.failure.kind === 'garbage');
});

test('statuses become kinds, and what a provider asks for is respected', () => {
  const kinds: [number, string][] = [
    [400, 'rejected'],
    [401, 'failed'],
    [403, 'failed'],
    [404, 'failed'],
    [408, 'timeout'],
    [413, 'rejected'],
    [429, 'busy'],
    [500, 'failed'],
    [529, 'failed'],
  ];
  const body = JSON.stringify({ type: 'error', error: { type: 'x', message: 'secret' } });
  for (const [status, kind] of kinds) {
    const failure = anthropicMessages.readFailure(status, { 'retry-after': '3' }, body);
    assert.deepEqual(failure, { kind, status, retryAfterMs: 3_000, detail: 'x: secret' });
  }
  assert.equal(anthropicMessages.readFailure(502, {}, '<html>').detail, '<html>');
});
