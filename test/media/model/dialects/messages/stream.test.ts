// The encoder's bytes through the vendor's own stream helper, and round through our own reader: the
// blocks of a stream are those of the whole reply, live and replayed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import {
  type Answer,
  addToAnswer,
  answerEvents,
  emptyAnswer,
} from '../../../../../media/model/answer.ts';
import type { Receipt } from '../../../../../media/model/dialects/contract.ts';
import { messagesDialect } from '../../../../../media/model/dialects/messages/dialect.ts';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import { noSampling } from '../../../../../media/model/request.ts';
import { MessagesReader } from '../../../../../media/providers/generation/anthropic-messages/reader.ts';
import { isPlain } from '../../../../../runtime/http/json-pieces.ts';
import { Problem } from '../../../../../runtime/problem.ts';
import { fc } from '../../../../harness/properties.ts';
import { neutralRequest, replyOptions } from '../../../../harness/request.ts';
import { testSeed } from '../../../../harness/seed.ts';

const seed = testSeed;
const identity = {
  requestId: 'req_0123456789abcdef01234567',
  model: 'svc-sim-messages',
  createdAt: 1_795_000_000,
};
const usage = {
  inputTokens: 5,
  cachedInputTokens: 3,
  cacheWriteTokens: 2,
  outputTokens: 7,
  reasoningTokens: 1,
  searchCalls: 4,
};
const receipt: Receipt = {
  usage,
  svcUsage: {
    request_id: identity.requestId,
    model: identity.model,
    input_tokens: 5,
    cached_input_tokens: 3,
    cache_write_tokens: 2,
    output_tokens: 7,
    reasoning_tokens: 1,
    search_calls: 4,
    charge_microcredits: 42,
    wallet_type: 'personal',
    source: 'reported',
    credits_exhausted: false,
    replayed: false,
    simulated: true,
  },
  svcRouting: null,
};

function text(value: string): ModelEvent {
  return { type: 'text', text: value, plain: isPlain(value) };
}

function answerOf(events: readonly ModelEvent[]): Answer {
  const answer = emptyAnswer();
  for (const event of events) addToAnswer(answer, event);
  return answer;
}

/** Of a request that asks for stop sequences. */
const options = replyOptions({
  request: neutralRequest({ sampling: { ...noSampling, stop: ['other', 'END'] } }),
});

/** Every event in a batch of its own, a ping between each two. */
function encode(events: readonly ModelEvent[], answer = answerOf(events)): string {
  const encoder = messagesDialect.encoder(identity, options);
  const progress = encoder.progress({ stage: 'routing', state: 'started', detail: 'x' });
  const parts = events.map((event) => encoder.events([event]) + messagesDialect.keepAlive);
  return progress + parts.join('') + encoder.finish(receipt, answer);
}

function whole(events: readonly ModelEvent[]): Record<string, unknown> {
  return messagesDialect.whole(identity, options, answerOf(events), receipt);
}

function client(body: string): Anthropic {
  const headers = { 'content-type': 'text/event-stream' };
  return new Anthropic({
    apiKey: 'k',
    baseURL: 'http://x',
    maxRetries: 0,
    fetch: async () => new Response(body, { status: 200, headers }),
  });
}

const ask = {
  model: 'svc-sim-messages',
  max_tokens: 10,
  messages: [{ role: 'user' as const, content: 'hi' }],
};

/** The final message as the vendor's helper has it, as plain JSON. */
async function helped(body: string): Promise<Record<string, unknown>> {
  const message = await client(body).messages.stream(ask).finalMessage();
  return JSON.parse(JSON.stringify(message)) as Record<string, unknown>;
}

const cited: ModelEvent = {
  type: 'citation',
  citation: {
    url: 'https://a.example',
    title: 'A',
    start: 0,
    end: 15,
    native: { format: 'messages', value: { type: 'web_search_result_location', url: 'u' } },
  },
};

const everything: ModelEvent[] = [
  { type: 'start', usage: { ...usage, outputTokens: 1 } },
  { type: 'reasoning', text: 'hm "so"' },
  { type: 'reasoning_end', format: 'messages', value: { signature: 'sig' } },
  { type: 'native', format: 'messages', value: { type: 'redacted_thinking', data: 'x' } },
  {
    type: 'native',
    format: 'messages',
    value: { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
  },
  text('Grüße '),
  text('"quoted"\n'),
  cited,
  text('🙂'),
  { type: 'tool_call', index: 0, id: 'toolu_a', name: 'weather' },
  { type: 'tool_arguments', index: 0, text: '{"city":' },
  { type: 'tool_call', index: 1, id: 'toolu_b', name: 'clock' },
  { type: 'tool_arguments', index: 1, text: '{}' },
  { type: 'tool_arguments', index: 0, text: '"Köln"}' },
  { type: 'finish', reason: 'tool_calls' },
];

test('the vendor’s helper reads every block, usage and svc_usage', async () => {
  const body = encode(everything);
  const message = await helped(body);
  const { content, stop_reason, usage: told, id, model } = message;
  assert.equal(id, 'msg_0123456789abcdef01234567');
  assert.equal(model, 'svc-sim-messages');
  assert.equal(stop_reason, 'tool_use');
  assert.deepEqual(content, whole(everything).content);
  const blocks = content as { type: string }[];
  assert.deepEqual(
    blocks.map(({ type }) => type),
    ['thinking', 'redacted_thinking', 'server_tool_use', 'text', 'text', 'tool_use', 'tool_use'],
  );
  const counts = told as Record<string, unknown>;
  assert.equal(counts.input_tokens, 5);
  assert.equal(counts.cache_read_input_tokens, 3);
  assert.equal(counts.cache_creation_input_tokens, 2);
  assert.equal(counts.output_tokens, 8);
  const last = body.split('\n\n').filter((event) => event.includes('svc_usage'));
  assert.deepEqual(
    last.map((event) => event.slice(0, event.indexOf('\n'))),
    ['event: message_delta', 'event: message_stop'],
  );
});

test('replays and late attaches give the same blocks', async () => {
  const answer = answerOf(everything);
  const again = await helped(encode(answerEvents(answer), answer));
  assert.deepEqual(again.content, whole(everything).content);
  const stored = JSON.parse(JSON.stringify(answer)) as Answer;
  assert.deepEqual(
    messagesDialect.whole(identity, replyOptions(), stored, receipt).content,
    again.content,
  );
});

test('events have the members of the official ones, in a form that is fixed', () => {
  const encoder = messagesDialect.encoder(identity, replyOptions());
  const written = encoder.events([{ type: 'start', usage }, text('a'), text('b"')]);
  const delta = (value: string) =>
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,' +
    `"delta":{"type":"text_delta","text":${value}}}\n\n`;
  const start =
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,' +
    '"content_block":{"type":"text","text":""}}\n\n';
  assert.ok(written.startsWith('event: message_start\ndata: {"type":"message_start"'));
  assert.ok(written.endsWith(messagesDialect.keepAlive + start + delta('"a"') + delta('"b\\""')));
  assert.match(written, /"input_tokens":5,/);
  assert.match(written, /"output_tokens":0,/);
});

test('a failure in the stream reaches the client as an API error with its type', async () => {
  const encoder = messagesDialect.encoder(identity, replyOptions());
  const problem = new Problem('upstream_timeout');
  const body =
    encoder.events([{ type: 'start' }, text('a')]) +
    encoder.failure(problem, receipt.svcUsage, emptyAnswer(), null);
  await assert.rejects(
    helped(body),
    (error) => error instanceof Anthropic.APIError && error.type === 'timeout_error',
  );
});

const ends: [string, ModelEvent, Record<string, unknown>][] = [
  ['an end', { type: 'finish', reason: 'stop' }, { stop_reason: 'end_turn' }],
  ['a ceiling', { type: 'finish', reason: 'length' }, { stop_reason: 'max_tokens' }],
  [
    'a stop sequence',
    { type: 'finish', reason: 'stop', stopSequence: 'END' },
    { stop_reason: 'stop_sequence', stop_sequence: 'END' },
  ],
  [
    'a stop sequence that only the server has',
    { type: 'finish', reason: 'stop', stopSequence: '<|im_end|>' },
    { stop_reason: 'end_turn', stop_sequence: null },
  ],
  [
    'a filter',
    { type: 'finish', reason: 'content_filter' },
    {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: null },
    },
  ],
  [
    'a pause',
    {
      type: 'finish',
      reason: 'stop',
      native: { format: 'messages', value: { stop_reason: 'pause_turn' } },
    },
    { stop_reason: 'pause_turn' },
  ],
];
for (const [name, finish, expected] of ends) {
  test(`${name} is told streamed and whole`, async () => {
    const events: ModelEvent[] = [{ type: 'start' }, text('a'), finish];
    const streamed = await helped(encode(events));
    const reply = whole(events);
    for (const [member, value] of Object.entries(expected)) {
      assert.deepEqual(streamed[member], value, member);
      assert.deepEqual(reply[member], value, member);
    }
  });
}

test('a cancelled pause is no pause', () => {
  const answer = answerOf([
    text('a'),
    {
      type: 'finish',
      reason: 'stop',
      native: { format: 'messages', value: { stop_reason: 'pause_turn' } },
    },
  ]);
  answer.finishReason = 'length';
  const reply = messagesDialect.whole(identity, replyOptions(), answer, receipt);
  assert.equal(reply.stop_reason, 'max_tokens');
});

const someText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.constantFrom('"', '\\', '\u0000', 'event: error\n\n', '\u2028'),
);

interface Step {
  kind: 'text' | 'refusal' | 'reasoning' | 'signed' | 'native' | 'foreign' | 'call' | 'go on';
  text: string;
  call: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    'text',
    'text',
    'refusal',
    'reasoning',
    'signed',
    'native',
    'foreign',
    'call',
    'go on',
    'go on',
  ),
  text: someText,
  call: fc.nat(3),
});

/** Events as readers give them; the arguments of calls come in turns, in pieces. */
function eventsOf(steps: readonly Step[]): ModelEvent[] {
  const left: string[] = [];
  const events: ModelEvent[] = [{ type: 'start' }];
  for (const { kind, text: value, call } of steps) {
    switch (kind) {
      case 'text':
        events.push(text(value));
        break;
      case 'refusal':
      case 'reasoning':
        events.push({ type: kind, text: value });
        break;
      case 'signed':
        events.push({ type: 'reasoning_end', format: 'messages', value: { signature: value } });
        break;
      case 'native':
      case 'foreign': {
        const format = kind === 'native' ? 'messages' : 'responses';
        events.push({ type: 'native', format, value: { type: 'redacted_thinking', data: value } });
        break;
      }
      case 'call': {
        const index = left.push(JSON.stringify({ value, deep: [{ a: value }] })) - 1;
        events.push({ type: 'tool_call', index, id: `toolu_${index}`, name: `f${index}` });
        break;
      }
      default:
        goOn(left, call, 9, events);
    }
  }
  for (let index = left.length - 1; index >= 0; index -= 1) goOn(left, index, 1e6, events);
  return [...events, { type: 'finish', reason: left.length > 0 ? 'tool_calls' : 'stop' }];
}

function goOn(left: string[], index: number, length: number, events: ModelEvent[]): void {
  const rest = left[index];
  if (rest === undefined || rest === '') return;
  events.push({ type: 'tool_arguments', index, text: rest.slice(0, length) });
  left[index] = rest.slice(length);
}

test('any events, calls in turns included, are the same whole, helped and read again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const events = eventsOf(steps);
      const body = encode(events);
      const { content } = whole(events);
      const plain: unknown = JSON.parse(JSON.stringify(content));
      assert.deepEqual((await helped(body)).content, plain);
      assertOneOpenBlock(body);
      const answer = emptyAnswer();
      const reader = new MessagesReader();
      for (const event of reader.push(Buffer.from(body))) addToAnswer(answer, event);
      assert.ok(reader.finished);
      const again = messagesDialect.whole(identity, replyOptions(), answer, receipt);
      assert.equal(JSON.stringify(textsOf(again.content)), JSON.stringify(textsOf(content)));
    }),
    { seed, numRuns: 500 },
  );
});

/** Neighbours of one type are one item again once they are read. */
function textsOf(content: unknown): [string, string][] {
  const texts: [string, string][] = [];
  for (const block of content as { type: string; text?: string }[]) {
    const last = texts.at(-1);
    if (block.type === 'text' && last?.[0] === 'text') last[1] += block.text ?? '';
    else texts.push([block.type, block.type === 'text' ? (block.text ?? '') : '']);
  }
  return texts.filter(([type]) => type !== 'thinking');
}

function assertOneOpenBlock(body: string): void {
  let open: number | null = null;
  let next = 0;
  for (const line of body.split('\n')) {
    if (!line.startsWith('data: ')) continue;
    const event = JSON.parse(line.slice(6)) as { type: string; index?: number };
    if (event.type === 'content_block_start') {
      assert.equal(open, null, 'the block before is closed');
      assert.equal(event.index, next);
      open = next;
      next += 1;
    }
    if (event.type === 'content_block_delta') assert.equal(event.index, open);
    if (event.type === 'content_block_stop') {
      assert.equal(event.index, open);
      open = null;
    }
    if (event.type === 'message_delta') assert.equal(open, null);
  }
}
