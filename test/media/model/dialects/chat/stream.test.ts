// The encoder's bytes through other people's parsers, and round through our own reader.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { addToAnswer, answerEvents, emptyAnswer } from '../../../../../media/model/answer.ts';
import { chatDialect } from '../../../../../media/model/dialects/chat/dialect.ts';
import type { Receipt } from '../../../../../media/model/dialects/contract.ts';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import type { TokenUsage } from '../../../../../media/model/usage.ts';
import { ChatReader } from '../../../../../media/providers/generation/openai-chat/reader.ts';
import { isPlain } from '../../../../../runtime/http/json-pieces.ts';
import { Problem } from '../../../../../runtime/problem.ts';
import { fc } from '../../../../harness/properties.ts';
import { replyOptions } from '../../../../harness/request.ts';
import { testSeed } from '../../../../harness/seed.ts';

const seed = testSeed;
const identity = {
  requestId: 'req_0123456789abcdef01234567',
  model: 'svc-sim-chat',
  createdAt: 1_795_000_000,
};
const usage: TokenUsage = {
  inputTokens: 5,
  cachedInputTokens: 3,
  cacheWriteTokens: 2,
  outputTokens: 7,
  reasoningTokens: 1,
  searchCalls: 0,
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
    search_calls: 0,
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

const answerWithTools: ModelEvent[] = [
  { type: 'start' },
  { type: 'reasoning', text: 'hm "so"' },
  text('Grüße '),
  text('"quoted"\n🙂'),
  { type: 'tool_call', index: 0, id: 'call_a', name: 'weather' },
  { type: 'tool_arguments', index: 0, text: '{"city":' },
  { type: 'tool_call', index: 1, id: 'call_b', name: 'clock' },
  { type: 'tool_arguments', index: 1, text: '{}' },
  { type: 'tool_arguments', index: 0, text: '"Köln"}' },
  { type: 'finish', reason: 'tool_calls' },
];

/** Every event in a batch of its own, a keep-alive between each two. */
function encode(events: readonly ModelEvent[], includeUsage: boolean): string {
  const encoder = chatDialect.encoder(identity, replyOptions({ includeUsage }));
  const progress = encoder.progress({ stage: 'routing', state: 'started', detail: 'x' });
  const parts = events.map((event) => encoder.events([event]) + chatDialect.keepAlive);
  return progress + parts.join('') + encoder.finish(receipt, emptyAnswer());
}

function answering(body: string): typeof fetch {
  return async () =>
    new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } });
}

function client(body: string): OpenAI {
  return new OpenAI({ apiKey: 'k', baseURL: 'http://x/v1', fetch: answering(body), maxRetries: 0 });
}

const ask = { model: 'svc-sim-chat', messages: [{ role: 'user' as const, content: 'hi' }] };

test('the official client reads text, tool calls, usage and svc_usage', async () => {
  for (const includeUsage of [true, false]) {
    const body = encode(answerWithTools, includeUsage);
    const chunks = [];
    const stream = await client(body).chat.completions.create({ ...ask, stream: true });
    for await (const chunk of stream) chunks.push(chunk);
    const last = chunks.at(-1);
    assert.deepEqual((last as unknown as { svc_usage: unknown }).svc_usage, receipt.svcUsage);
    assert.equal(last?.usage?.prompt_tokens, includeUsage ? 10 : undefined);
    assert.equal(last?.usage?.completion_tokens, includeUsage ? 8 : undefined);
    assert.ok(chunks.every((chunk) => chunk.id === 'chatcmpl-0123456789abcdef01234567'));
    assert.ok(chunks.every((chunk) => chunk.model === 'svc-sim-chat'));
    const whole = await client(body).chat.completions.stream(ask).finalChatCompletion();
    const message = whole.choices[0]?.message;
    assert.equal(message?.content, 'Grüße "quoted"\n🙂');
    assert.equal(whole.choices[0]?.finish_reason, 'tool_calls');
    assert.deepEqual(
      message?.tool_calls?.map(
        (call) => 'function' in call && [call.id, call.function.name, call.function.arguments],
      ),
      [
        ['call_a', 'weather', '{"city":"Köln"}'],
        ['call_b', 'clock', '{}'],
      ],
    );
  }
});

test('the ai package reads text and tool calls', async () => {
  const body = encode(answerWithTools, true);
  const provider = createOpenAI({ apiKey: 'k', baseURL: 'http://x/v1', fetch: answering(body) });
  const result = streamText({ model: provider.chat('svc-sim-chat'), prompt: 'hi' });
  let read = '';
  const called: string[] = [];
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') read += part.text;
    if (part.type === 'tool-call') called.push(part.toolName);
    if (part.type === 'error') throw part.error;
  }
  assert.equal(read, 'Grüße "quoted"\n🙂');
  assert.deepEqual(called, ['weather', 'clock']);
  assert.equal((await result.usage).inputTokens, 10);
});

test('a failure in the stream reaches the official client as an API error', async () => {
  const encoder = chatDialect.encoder(identity, replyOptions({ includeUsage: false }));
  const problem = new Problem('upstream_timeout');
  const body =
    encoder.events([{ type: 'start' }, text('a')]) +
    encoder.failure(problem, receipt.svcUsage, emptyAnswer(), null);
  assert.ok(body.endsWith('data: [DONE]\n\n'));
  let read = '';
  const stream = await client(body).chat.completions.create({ ...ask, stream: true });
  await assert.rejects(
    async () => {
      for await (const chunk of stream) read += chunk.choices[0]?.delta.content ?? '';
    },
    (error) => error instanceof OpenAI.APIError && error.code === 'upstream_timeout',
  );
  assert.equal(read, 'a');
});

test('chunks have the members of the official ones, in a form that is fixed', () => {
  const encoder = chatDialect.encoder(identity, replyOptions({ includeUsage: false }));
  const written = encoder.events([
    { type: 'start' },
    text('a'),
    { type: 'finish', reason: 'length' },
  ]);
  const head = [
    '"id":"chatcmpl-0123456789abcdef01234567"',
    '"object":"chat.completion.chunk"',
    '"created":1795000000',
    '"model":"svc-sim-chat"',
  ].join();
  const chunk = (delta: string, reason: string, more = '') =>
    `data: {${head},"choices":[{"index":0,"delta":${delta},"logprobs":null,` +
    `"finish_reason":${reason}}]${more}}\n\n`;
  assert.equal(
    written,
    chunk('{"role":"assistant","content":null}', 'null') + chunk('{"content":"a"}', 'null'),
  );
  const svcUsage = `,"svc_usage":${JSON.stringify(receipt.svcUsage)}`;
  assert.equal(
    encoder.finish(receipt, emptyAnswer()),
    `${chunk('{}', '"length"', svcUsage)}data: [DONE]\n\n`,
  );
});

test('log probabilities come in the chunk of their token, as they were sent', () => {
  const chosen = [' so', ' be', ' it'].map((token, index) => ({
    index: 0,
    delta: index < 2 ? { content: token } : { refusal: token },
    logprobs: { content: [{ token, logprob: -1.5, bytes: null, top_logprobs: [] }] },
    finish_reason: null,
  }));
  const sent = chosen.map(
    (choice) => `data: ${JSON.stringify({ id: 'x', choices: [choice] })}\n\n`,
  );
  const events = new ChatReader().push(Buffer.from(sent.join('')));
  const written = chatDialect.encoder(identity, replyOptions()).events(events);
  const chunks = written.split('\n\n').filter((event) => event !== '');
  assert.deepEqual(
    chunks.slice(1).map((event) => JSON.parse(event.slice('data: '.length)).choices[0]),
    chosen,
  );
});

const someText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.constantFrom('"', '\\', '\u0000', '\ud800', 'data: [DONE]\n\n', '\u2028'),
);

/** Events as a reader gives them: calls begin with their arguments, texts are not empty. */
const someEvents: fc.Arbitrary<ModelEvent[]> = fc
  .array(
    fc.oneof(
      someText.map((value) => [text(value)]),
      someText.map((value): ModelEvent[] => [{ type: 'reasoning', text: value }]),
      someText.map((value): ModelEvent[] => [{ type: 'refusal', text: value }]),
      fc
        .tuple(fc.nat(3), someText)
        .map(([index, value]): ModelEvent[] => [{ type: 'tool_arguments', index, text: value }]),
      // JSON has no minus zero.
      fc.json({ maxDepth: 1 }).map((json): ModelEvent[] => [
        {
          type: 'extra',
          format: 'chat',
          delta: { note: [JSON.parse(json)] },
          choice: { logprobs: { value: JSON.parse(json) } },
        },
      ]),
    ),
    { maxLength: 30 },
  )
  .map((runs) => withCallsOpened(runs.flat()));

function withCallsOpened(events: ModelEvent[]): ModelEvent[] {
  const seen: number[] = [];
  const opened = events.flatMap((event): ModelEvent[] => {
    if (event.type !== 'tool_arguments') return [event];
    const known = seen.indexOf(event.index);
    if (known >= 0) return [{ ...event, index: known }];
    const index = seen.push(event.index) - 1;
    return [
      { type: 'tool_call', index, id: `call_${index}`, name: `f${index}` },
      { ...event, index },
    ];
  });
  return [{ type: 'start' }, ...opened];
}

test('events survive the encoder and the reader, in any batches and any pieces of bytes', () => {
  fc.assert(
    fc.property(someEvents, fc.nat(7), fc.integer({ min: 1, max: 997 }), (events, batch, piece) => {
      const encoder = chatDialect.encoder(identity, replyOptions({ includeUsage: true }));
      const finish: ModelEvent = { type: 'finish', reason: 'length' };
      const all = [...events, finish];
      let written = '';
      for (let at = 0; at < all.length; at += batch + 1) {
        written += encoder.events(all.slice(at, at + batch + 1)) + chatDialect.keepAlive;
      }
      const bytes = Buffer.from(written + encoder.finish(receipt, emptyAnswer()));
      const reader = new ChatReader();
      const read: ModelEvent[] = [];
      for (let at = 0; at < bytes.length; at += piece) {
        read.push(...reader.push(bytes.subarray(at, at + piece)));
      }
      assert.ok(reader.finished);
      assert.deepEqual(read, [...all, { type: 'usage', usage }]);
    }),
    { seed, numRuns: 500 },
  );
});

test('a stored answer, replayed, gives the same answer and the same whole reply', () => {
  fc.assert(
    fc.property(someEvents, (events) => {
      const answer = emptyAnswer();
      for (const event of [...events, { type: 'finish' as const, reason: 'stop' as const }]) {
        addToAnswer(answer, event);
      }
      const again = emptyAnswer();
      for (const event of answerEvents(answer)) addToAnswer(again, event);
      assert.deepEqual(again, answer);
    }),
    { seed, numRuns: 300 },
  );
  const answer = emptyAnswer();
  for (const event of answerWithTools) addToAnswer(answer, event);
  const whole = chatDialect.whole(
    identity,
    replyOptions(),
    answer,
    receipt,
  ) as unknown as OpenAI.ChatCompletion;
  assert.equal(whole.object, 'chat.completion');
  assert.equal(whole.choices[0]?.message.content, 'Grüße "quoted"\n🙂');
  assert.equal(whole.choices[0]?.message.tool_calls?.length, 2);
  assert.equal(whole.usage?.total_tokens, 18);
});
