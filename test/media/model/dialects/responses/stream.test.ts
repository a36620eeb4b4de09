// The encoder's bytes through other people's parsers, and their numbering in any batches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { answerEvents, emptyAnswer } from '../../../../../media/model/answer.ts';
import { responsesDialect } from '../../../../../media/model/dialects/responses/dialect.ts';
import { itemPlace, requestIdOf } from '../../../../../media/model/dialects/responses/ids.ts';
import type { InputItem } from '../../../../../media/model/dialects/responses/input.ts';
import { responseObject } from '../../../../../media/model/dialects/responses/response.ts';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import type { GenerationRequest } from '../../../../../media/model/request.ts';
import { encodeConversation } from '../../../../../media/providers/generation/anthropic-messages/translate.ts';
import { Problem } from '../../../../../runtime/problem.ts';
import { fc } from '../../../../harness/properties.ts';
import { accountSeals, replyOptions } from '../../../../harness/request.ts';
import { testSeed } from '../../../../harness/seed.ts';
import {
  answerOf,
  encode,
  everything,
  identity,
  receipt,
  requestOf,
  someEvents,
  text,
  wireEvents,
} from './events.ts';

const seed = testSeed;
const ask = { model: identity.model, input: 'hi' };
const finish: ModelEvent = { type: 'finish', reason: 'stop' };

function answering(body: string): typeof fetch {
  return async () =>
    new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } });
}

function client(body: string): OpenAI {
  return new OpenAI({ apiKey: 'k', baseURL: 'http://x/v1', fetch: answering(body), maxRetries: 0 });
}

/** What the official stream helper makes of a stream. */
async function helped(body: string) {
  return await client(body).responses.stream(ask).finalResponse();
}

function whole(
  events: readonly ModelEvent[],
  body: Record<string, unknown> = {},
  read: Partial<GenerationRequest> = {},
) {
  const request = { ...requestOf(body), ...read };
  const options = replyOptions({ includeUsage: true, request });
  return responsesDialect.whole(identity, options, answerOf(events), receipt);
}

test('the official client’s stream helper reads every kind of item', async () => {
  const body = { include: ['reasoning.encrypted_content'] };
  const stream = encode(everything, { body, between: responsesDialect.keepAlive });
  const response = await helped(stream);
  assert.equal(response.id, 'resp_0123456789abcdef01234567');
  assert.equal(response.status, 'completed');
  assert.equal(response.output_text, 'Grüße "quoted"\n🙂');
  assert.deepEqual(
    response.output.map((item) => item.type),
    ['reasoning', 'web_search_call', 'message', 'function_call', 'function_call'],
  );
  const [, , , weather] = response.output;
  assert.ok(weather?.type === 'function_call');
  assert.equal(weather.arguments, '{"city":"Köln"}');
  assert.equal(response.usage?.input_tokens, 10);
  assert.equal(response.usage?.output_tokens_details.reasoning_tokens, 1);
  const { svc_usage } = response as unknown as { svc_usage: unknown };
  assert.deepEqual(svc_usage, receipt.svcUsage);
  assert.doesNotMatch(stream, /ws_upstream|rs_up/, 'no upstream id shows');
});

test('events are typed, named, and numbered from 0 in the vendor’s order', () => {
  const events = wireEvents(encode([...everything.slice(0, 1), text('a'), finish]));
  assert.deepEqual(
    events.map(({ name }) => name.replace('response.', '')),
    [
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ],
  );
  for (const [index, { name, data }] of events.entries()) {
    assert.equal(data.type, name);
    assert.equal(data.sequence_number, index);
  }
  const [item] = events.map(({ data }) => data.item_id).filter((id) => id !== undefined);
  assert.equal(item, 'msg_0123456789abcdef012345670000');
  assert.deepEqual(itemPlace(String(item)), { requestId: identity.requestId, outputIndex: 0 });
  assert.equal(requestIdOf('resp_0123456789abcdef01234567'), identity.requestId);
  assert.equal(requestIdOf('resp_other'), null);
});

test('redacted thinking is sealed reasoning, and goes back as it came', () => {
  const redacted = { type: 'redacted_thinking', data: 'xyz' };
  const signed = { signature: 'sig' };
  const events: ModelEvent[] = [
    { type: 'start' },
    { type: 'native', format: 'messages', value: redacted },
    { type: 'reasoning', text: 'hm' },
    { type: 'reasoning_end', format: 'messages', value: signed },
    text('so'),
    { type: 'tool_call', index: 0, id: 'c', name: 'f' },
    { type: 'tool_arguments', index: 0, text: '{}' },
    { type: 'finish', reason: 'tool_calls' },
  ];
  const body = { include: ['reasoning.encrypted_content'] };
  const streamed = wireEvents(encode(events, { body })).filter(({ name }) =>
    name.endsWith('output_item.done'),
  );
  const output = whole(events, body).output as InputItem[];
  const [first, second] = output;
  assert.deepEqual([first?.type, second?.type], ['reasoning', 'reasoning']);
  assert.deepEqual(first?.summary, []);
  const byId = (items: InputItem[]) => new Map(items.map((item) => [item.id, item]));
  assert.deepEqual(byId(streamed.map(({ data }) => data.item as InputItem)), byId(output));
  const result = { type: 'function_call_output', call_id: 'c', output: 'found' };
  const input = [{ role: 'user', content: 'hi' }, ...output, result] as InputItem[];
  const again = { model: identity.model, input };
  const request = responsesDialect.readRequest(again, {}, accountSeals());
  const [, turn] = encodeConversation(request.messages).messages;
  assert.deepEqual(turn?.content, [
    redacted,
    { type: 'thinking', thinking: 'hm', ...signed },
    { type: 'text', text: 'so' },
    { type: 'tool_use', id: 'c', name: 'f', input: {} },
  ]);
});

test('a call ends before the next item begins, unless more of its arguments may come', () => {
  const call = (index: number): ModelEvent => {
    return { type: 'tool_call', index, id: `call_${index}`, name: 'f' };
  };
  const args = (index: number, value: string): ModelEvent => {
    return { type: 'tool_arguments', index, text: value };
  };
  const ends = (...events: ModelEvent[]) =>
    wireEvents(encode([{ type: 'start' }, ...events, finish]))
      .filter(({ name }) => /output_item|arguments\.done/.test(name))
      .map(({ name, data }) => `${name.split('.').slice(1).join('.')} ${data.output_index}`);
  const item = (index: number) => [
    `output_item.added ${index}`,
    `function_call_arguments.done ${index}`,
    `output_item.done ${index}`,
  ];
  const inTurn = ends(call(0), args(0, '{"a":'), args(0, '{}}'), call(1), args(1, '{}'));
  assert.deepEqual(inTurn, [...item(0), ...item(1)]);
  const message = ['output_item.added 1', 'output_item.done 1'];
  assert.deepEqual(ends(call(0), args(0, '{}'), text('so')), [...item(0), ...message]);
  const [added = '', ...closed] = item(0);
  const mixed = ends(call(0), args(0, '{"a":{}'), call(1), args(0, '}'), args(1, '{}'));
  assert.deepEqual(mixed, [added, 'output_item.added 1', ...closed, ...item(1).slice(1)]);
});

test('the ai package reads text, reasoning, sources and tool calls', async () => {
  const events = everything.filter((event) => event.type !== 'refusal');
  const provider = createOpenAI({
    apiKey: 'k',
    baseURL: 'http://x/v1',
    fetch: answering(encode(events)),
  });
  const result = streamText({ model: provider('svc-sim-responses'), prompt: 'hi' });
  const seen = { text: '', reasoning: '', tools: '', sources: '' };
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') seen.text += part.text;
    if (part.type === 'reasoning-delta') seen.reasoning += part.text;
    if (part.type === 'tool-call' && !part.providerExecuted) seen.tools += part.toolName;
    if (part.type === 'source') seen.sources += part.title ?? '';
    if (part.type === 'error') throw part.error;
  }
  assert.equal(seen.text, 'Grüße "quoted"\n🙂');
  assert.equal(seen.reasoning, 'hm "so"');
  assert.equal(seen.tools, 'weatherclock');
  assert.equal(seen.sources, 'X');
  assert.equal((await result.usage).inputTokens, 10);
});

test('any events make a stream that the official client takes, equal to the reply', async () => {
  await fc.assert(
    fc.asyncProperty(someEvents, fc.boolean(), async (events, sealed) => {
      const body = sealed ? { include: ['reasoning.encrypted_content'] } : {};
      const all = [...events, finish];
      const stream = encode(all, { body });
      const { output_text: _text, ...response } = await helped(stream);
      const expected = JSON.parse(JSON.stringify(whole(all, body)));
      assert.deepEqual(withoutParsed(response), expected);
      const done = wireEvents(stream).filter(({ name }) => name === 'response.output_item.done');
      const items = done.sort((one, other) => order(one.data) - order(other.data));
      assert.deepEqual(
        items.map(({ data }) => data.item),
        expected.output,
        'what was streamed item by item is the output',
      );
    }),
    { seed, numRuns: 300 },
  );
});

function order(data: Record<string, unknown>): number {
  return Number(data.output_index);
}

/** The client adds parsed members to what it read. */
function withoutParsed(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member: unknown) =>
      name === 'parsed' || name === 'parsed_arguments' || name === 'output_parsed'
        ? undefined
        : member,
    ),
  );
}

test('numbers are a function of the events one by one, whatever the batches', () => {
  fc.assert(
    fc.property(someEvents, fc.integer({ min: 1, max: 7 }), fc.nat(80), (events, batch, after) => {
      const all = [...events, finish];
      const one = encode(all);
      assert.equal(encode(all, { batch }), one);
      const numbered = wireEvents(one);
      numbered.forEach(({ data }, index) => {
        assert.equal(data.sequence_number, index);
      });
      const resumed = wireEvents(encode(all, { batch, startingAfter: after }));
      assert.deepEqual(resumed, numbered.slice(after + 1));
    }),
    { seed, numRuns: 300 },
  );
});

test('a stored answer gives the same items as the live one', () => {
  fc.assert(
    fc.property(someEvents, (events) => {
      const all = [...events, finish];
      const replayed = answerEvents(answerOf(all));
      const items = (run: readonly ModelEvent[]) => {
        const done = wireEvents(encode(run)).filter(
          ({ name }) => name === 'response.output_item.done',
        );
        return done.map(({ data }) => data.item);
      };
      assert.deepEqual(items(replayed), items(all));
    }),
    { seed, numRuns: 200 },
  );
});

test('a cut answer ends as incomplete, a blocked one with its reason', async () => {
  for (const [reason, said] of [
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ] as const) {
    const stream = encode([text('a'), { type: 'finish', reason }]);
    const response = await helped(stream);
    assert.equal(response.status, 'incomplete');
    assert.equal(response.incomplete_details?.reason, said);
    const [item] = response.output;
    assert.ok(item?.type === 'message');
    assert.equal(item.status, 'incomplete');
  }
});

test('progress repeats response.in_progress before the first item, never after', async () => {
  const request = requestOf();
  const options = replyOptions({ includeUsage: true, request });
  const encoder = responsesDialect.encoder(identity, options);
  const progress = { stage: 'search', state: 'started', detail: 'x' } as const;
  const begin = encoder.progress(progress) + encoder.events([{ type: 'start' }]);
  const delta = encoder.events([text('a')]);
  assert.equal(encoder.progress(progress), '');
  const stream = begin + delta + encoder.finish(receipt, answerOf([text('a'), finish]));
  assert.deepEqual(
    wireEvents(begin).map(({ name, data }) => [name, data.svc_progress]),
    [
      ['response.created', undefined],
      ['response.in_progress', undefined],
      ['response.in_progress', progress],
    ],
  );
  assert.equal((await helped(stream)).output_text, 'a');
});

test('a failure after response.created is response.failed, before it an error', async () => {
  const problem = new Problem('upstream_timeout');
  const options = replyOptions({ includeUsage: true, request: requestOf() });
  const encoder = responsesDialect.encoder(identity, options);
  const begun = encoder.events([{ type: 'start' }, text('a')]);
  const failed = begun + encoder.failure(problem, receipt.svcUsage, answerOf([text('a')]), null);
  const response = await helped(failed);
  assert.equal(response.status, 'failed');
  assert.equal(String(response.error?.code), 'upstream_timeout');
  assert.equal(response.usage?.total_tokens, 18);
  const early = responsesDialect.encoder(identity, options);
  const bare = early.failure(problem, null, emptyAnswer(), null);
  const [event] = wireEvents(bare);
  assert.equal(event?.name, 'error');
  assert.equal(event.data.sequence_number, 0);
  assert.equal(event.data.code, 'upstream_timeout');
  assert.deepEqual(event.data.error, {
    message: problem.message,
    type: 'api_error',
    code: 'upstream_timeout',
    param: null,
  });
  await assert.rejects(
    helped(bare),
    (error) => error instanceof OpenAI.APIError && error.code === 'upstream_timeout',
  );
});

test('the response repeats its request, response_format before text.format', () => {
  const tools = [{ type: 'function', name: 'f', description: 'd', parameters: {}, strict: true }];
  const body = {
    instructions: 'be brief',
    tools,
    tool_choice: 'required',
    temperature: 0.5,
    top_p: 0.9,
    metadata: { a: 'b' },
    parallel_tool_calls: false,
    truncation: 'auto',
    max_output_tokens: 9,
    reasoning: { effort: 'low', summary: 'auto' },
    user: 'u',
    text: { format: { type: 'json_object' }, verbosity: 'low' },
  };
  const format = { type: 'json_object' } as const;
  const response = whole([text('a'), finish], body, { outputFormat: format });
  for (const [name, value] of Object.entries(body)) assert.deepEqual(response[name], value, name);
  const plain = whole([text('a'), finish], { ...body, response_format: { type: 'text' } });
  assert.deepEqual(plain.text, { format: { type: 'text' }, verbosity: 'low' });
  const asked = replyOptions({ request: requestOf() });
  const waiting = responseObject(identity, asked, emptyAnswer(), null, 'queued');
  assert.equal(waiting.status, 'queued');
  assert.equal(waiting.usage, null);
  assert.deepEqual(waiting.output, []);
});

test('what a provider was about to do is no part of an answer that ends before', () => {
  const format = 'responses' as const;
  const search = { type: 'web_search_call', id: 'ws_up', status: 'in_progress' };
  const grep = { type: 'custom_tool_call', id: 'ctc_up', call_id: 'c', name: 'grep', input: '' };
  const delta = { type: 'response.custom_tool_call_input.delta', item_id: null, delta: 'ab' };
  const events: ModelEvent[] = [
    { type: 'native_begin', index: 0, format, value: grep },
    { type: 'native_event', index: 0, format, value: delta },
    { type: 'native_begin', index: 1, format, value: search },
    { type: 'finish', reason: 'length' },
  ];
  const written = wireEvents(encode(events)).map(({ data }) => data);
  const last = written.at(-1) as unknown as { type: string; response: { output: object[] } };
  assert.equal(last.type, 'response.incomplete');
  const call = { ...grep, id: 'ctc_0123456789abcdef012345670000', input: 'ab' };
  assert.deepEqual(last.response.output, [{ ...call, status: 'incomplete' }]);
  const ended = written.filter(({ type }) => type === 'response.output_item.done');
  assert.deepEqual(
    ended.map(({ item }) => item),
    last.response.output,
  );
});

test('the end of a response in its own words is shown as it was said', () => {
  const details = { reason: 'steered' };
  const native = { format: 'responses' as const, value: { incomplete_details: details } };
  const body = { top_logprobs: 2, max_tool_calls: 3 };
  const written = wireEvents(encode([{ type: 'finish', reason: 'length', native }], { body }));
  const response = (written.at(-1)?.data.response ?? {}) as Record<string, unknown>;
  const { incomplete_details, top_logprobs, max_tool_calls } = response;
  assert.deepEqual(
    { incomplete_details, top_logprobs, max_tool_calls },
    {
      incomplete_details: details,
      ...body,
    },
  );
});
