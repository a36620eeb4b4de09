// What leaves for a Chat Completions server, and how its usage and its refusals are read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationRequest, Message } from '../../../../../media/model/request.ts';
import type { UpstreamTarget } from '../../../../../media/providers/generation/contract.ts';
import { readFailure } from '../../../../../media/providers/generation/openai-chat/failure.ts';
import { lacks } from '../../../../../media/providers/generation/openai-chat/fit.ts';
import { encodeRequest } from '../../../../../media/providers/generation/openai-chat/request.ts';
import { readUsage } from '../../../../../media/providers/generation/openai-chat/usage.ts';
import { chatSource, neutralRequest, userMessage } from '../../../../harness/request.ts';

const target: UpstreamTarget = {
  routeId: 'r',
  family: 'openai-chat',
  baseUrl: 'http://localhost:1234/v1/',
  apiKey: null,
  upstreamModel: 'upstream-model',
};

function encode(
  body: Record<string, unknown>,
  change: Partial<GenerationRequest> = {},
  to = target,
) {
  const source = chatSource({ model: 'alias', messages: [{ role: 'user' }], ...body });
  const request = neutralRequest({ source, ...change });
  const call = encodeRequest(request, to, { outputTokensMax: 77, nativeSearch: false });
  return { call, sent: JSON.parse(JSON.stringify(call.body)) as Record<string, unknown> };
}

test('forwards what may pass and takes out what is the service’s own', () => {
  const { sent } = encode({
    temperature: 0.5,
    brand_new: { a: 1 },
    user: 'u',
    request_id: 'x',
    conversation_id: 'c',
    web_search: false,
    client_context: {},
    optimization: {},
    text: { format: { type: 'text' } },
    max_output_tokens: 9,
    metadata: { intelligent_reroute: true, mine: 1 },
    n: 1,
    stream: false,
    stream_options: { include_usage: false, include_obfuscation: true },
    ...JSON.parse('{"__proto__":{"polluted":1}}'),
  });
  assert.deepEqual(sent, {
    model: 'upstream-model',
    messages: [{ role: 'user' }],
    temperature: 0.5,
    user: 'u',
    max_tokens: 77,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('keeps the client’s member for the ceiling, and knows the vendor’s own server', () => {
  assert.equal(encode({ max_completion_tokens: 5 }).sent.max_completion_tokens, 77);
  assert.equal(encode({ max_tokens: 5 }).sent.max_tokens, 77);
  const vendor = { ...target, baseUrl: 'https://api.openai.com/v1', apiKey: 'secret' };
  const { call, sent } = encode({}, {}, vendor);
  assert.equal(sent.max_completion_tokens, 77);
  assert.deepEqual(sent.stream_options, { include_usage: true, include_obfuscation: false });
  assert.equal(call.url, 'https://api.openai.com/v1/chat/completions');
  assert.equal(call.headers.authorization, 'Bearer secret');
  const quirky = { ...target, quirks: { obfuscationSwitch: true } };
  assert.deepEqual(encode({}, {}, quirky).sent.stream_options, {
    include_usage: true,
    include_obfuscation: false,
  });
});

test('maps text.format, puts instructions in front, has nothing stored at the provider', () => {
  const schema = { type: 'object' };
  const outputFormat = { type: 'json_schema' as const, name: 'thing', schema, strict: true };
  const { sent } = encode(
    { instructions: 'be kind', store: true, metadata: { require_web_search: false, mine: 'x' } },
    { outputFormat },
  );
  assert.deepEqual(sent.response_format, {
    type: 'json_schema',
    json_schema: { name: 'thing', schema, strict: true },
  });
  assert.deepEqual(sent.messages, [{ role: 'system', content: 'be kind' }, { role: 'user' }]);
  assert.equal('store' in sent || 'metadata' in sent, false);
});

test('usage lands in disjoint buckets, zero is a report, nonsense is none', () => {
  const usage = readUsage({
    prompt_tokens: 100,
    completion_tokens: 50,
    total_tokens: 150,
    prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
    completion_tokens_details: { reasoning_tokens: 40 },
  });
  assert.deepEqual(usage, {
    inputTokens: 50,
    cachedInputTokens: 30,
    cacheWriteTokens: 20,
    outputTokens: 10,
    reasoningTokens: 40,
    searchCalls: 0,
  });
  const beside = readUsage({
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 35,
    completion_tokens_details: { reasoning_tokens: 20 },
  });
  assert.equal(beside?.outputTokens, 5);
  assert.equal(beside?.reasoningTokens, 20);
  assert.equal(readUsage({ prompt_tokens: 0, completion_tokens: 0 })?.inputTokens, 0);
  for (const none of [
    null,
    undefined,
    [],
    'x',
    {},
    { prompt_tokens: 'many' },
    { total_tokens: 3 },
  ]) {
    assert.equal(readUsage(none), null);
  }
  const odd = readUsage({
    prompt_tokens: 5,
    completion_tokens: -1,
    prompt_tokens_details: { cached_tokens: 9 },
  });
  assert.equal(odd?.inputTokens, 0);
  assert.equal(odd?.cachedInputTokens, 5);
  assert.equal(odd?.outputTokens, 0);
});

test('reads Retry-After in seconds, in milliseconds and as a date', () => {
  const wait = (headers: Record<string, string>) => readFailure(429, headers, '').retryAfterMs;
  assert.equal(wait({ 'retry-after': '2' }), 2000);
  assert.equal(wait({ 'retry-after': '2', 'retry-after-ms': '150' }), 150);
  const inAMinute = wait({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
  assert.ok(inAMinute !== null && inAMinute > 55_000 && inAMinute <= 60_000);
  assert.equal(wait({ 'retry-after': 'soon' }), null);
  assert.equal(wait({}), null);
});

test('what only another format says is refused, but for traces of how a model answered', () => {
  const item = { type: 'native', format: 'responses', value: { type: 'input_file' } } as const;
  const messages = [{ ...userMessage('hi'), parts: [item] }];
  const source = { format: 'responses', body: {}, headers: {}, rewritten: false } as const;
  assert.equal(lacks(neutralRequest({ messages, source })), 'input');
  const trace = { ...item, value: { type: 'web_search_call' } };
  const answered = (part: typeof item | typeof trace) => {
    const answer = { ...userMessage(''), role: 'assistant' as const, parts: [part] };
    return neutralRequest({ messages: [userMessage('hi'), answer], source });
  };
  assert.equal(lacks(answered(item)), 'input');
  const spoken = answered(trace);
  assert.equal(lacks(spoken), null);
  const call = encodeRequest(spoken, target, { outputTokensMax: 7, nativeSearch: false });
  const sent = JSON.parse(JSON.stringify(call.body)) as { messages: unknown };
  assert.deepEqual(sent.messages, [{ role: 'user', content: 'hi' }]);
});

test('files are told with a name, without which the vendor takes none, and text as text', () => {
  const file = (url: string, name: string | null) => ({ type: 'file' as const, url, name });
  const pdf = 'data:application/pdf;base64,JVBERi0=';
  const source = { format: 'messages', body: {}, headers: {}, rewritten: false } as const;
  const sent = (...parts: ReturnType<typeof file>[]) => {
    const request = neutralRequest({ messages: [{ ...userMessage(''), parts }], source });
    const call = encodeRequest(request, target, { outputTokensMax: 7, nativeSearch: false });
    return JSON.parse(JSON.stringify(call.body)).messages[0].content;
  };
  assert.deepEqual(sent(file(pdf, null), file(pdf, 'a.pdf'), file('data:text/csv,1%2C2', 'b')), [
    { type: 'file', file: { filename: 'file.pdf', file_data: pdf } },
    { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
    { type: 'text', text: 'b\n1,2' },
  ]);
  assert.equal(sent(file('data:text/plain;base64,aGk=', null)), 'hi');
});

test('a budget to think becomes an effort where the model is known to reason', () => {
  const source = { format: 'messages', body: {}, headers: {}, rewritten: false } as const;
  const effort = (budgetTokens: number | null, given: string | null, reasons: boolean) => {
    const reasoning = { effort: given, budgetTokens, summary: true };
    const request = neutralRequest({ messages: [userMessage('hi')], source, reasoning });
    const options = { outputTokensMax: 7, nativeSearch: false, reasons };
    return JSON.parse(JSON.stringify(encodeRequest(request, target, options).body))
      .reasoning_effort;
  };
  assert.equal(effort(2_000, null, true), 'low');
  assert.equal(effort(8_000, null, true), 'medium');
  assert.equal(effort(30_000, null, true), 'high');
  assert.equal(effort(30_000, 'low', true), 'low');
  assert.equal(effort(null, null, true), undefined);
  assert.equal(effort(30_000, null, false), undefined);
  assert.equal(effort(null, 'low', false), 'low');
});

test('images of results follow the last result of their turn, and failures are worded', () => {
  const image = { type: 'image', url: 'data:image/png;base64,AA', detail: null } as const;
  const result = (toolCallId: string, parts: Message['parts'], toolFailed: boolean): Message => {
    return { role: 'tool', parts, toolCalls: [], toolCallId, toolFailed };
  };
  const toolCalls = ['a', 'b'].map((id) => ({ id, name: 'f', arguments: '{}' }));
  const messages: Message[] = [
    { ...userMessage(''), role: 'assistant', parts: [], toolCalls },
    result('a', [{ type: 'text', text: 'here' }, image], true),
    result('b', [image], false),
    userMessage('so?'),
  ];
  const source = { format: 'messages', body: {}, headers: {}, rewritten: false } as const;
  const call = encodeRequest(neutralRequest({ messages, source }), target, {
    outputTokensMax: 7,
    nativeSearch: false,
  });
  const sent = JSON.parse(JSON.stringify(call.body)) as { messages: Record<string, unknown>[] };
  const shown = { type: 'image_url', image_url: { url: image.url } };
  assert.deepEqual(sent.messages.slice(1), [
    { role: 'tool', tool_call_id: 'a', content: '(This call failed.)\nhere' },
    { role: 'tool', tool_call_id: 'b', content: '' },
    {
      role: 'user',
      content: [
        { type: 'text', text: '(With the result of a:)' },
        shown,
        { type: 'text', text: '(With the result of b:)' },
        shown,
      ],
    },
    { role: 'user', content: 'so?' },
  ]);
});
