// What leaves for a Responses server: forwarded from its own format, translated from the others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { responsesDialect } from '../../../../../media/model/dialects/responses/dialect.ts';
import { sealReasoning } from '../../../../../media/model/dialects/responses/reasoning.ts';
import type { GenerationRequest } from '../../../../../media/model/request.ts';
import { openaiResponses } from '../../../../../media/providers/generation/openai-responses/family.ts';
import { encodeInput } from '../../../../../media/providers/generation/openai-responses/input.ts';
import {
  accountSeals,
  neutralRequest,
  upstreamTarget,
  userMessage,
} from '../../../../harness/request.ts';

type Members = Record<string, unknown>;

const target = upstreamTarget('openai-responses');

function encode(
  request: GenerationRequest,
  to = target,
  { nativeSearch = false, reasons = false }: { nativeSearch?: boolean; reasons?: boolean } = {},
) {
  const options = { outputTokensMax: 77, nativeSearch, reasons };
  const call = openaiResponses.encodeRequest(request, to, options);
  return { call, sent: JSON.parse(JSON.stringify(call.body)) as Members };
}

function forward(body: Members, change: Partial<GenerationRequest> = {}): Members {
  const whole = { model: 'alias', input: 'hi', ...body };
  const read = responsesDialect.readRequest(whole, {}, accountSeals());
  return encode({ ...read, ...change }).sent;
}

const always = { model: 'upstream-model', max_output_tokens: 77, store: false, stream: true };

test('forwards what may pass and takes out what is the service’s own', () => {
  const sent = forward({
    input: 'hi, in JSON',
    instructions: 'be brief',
    temperature: 0.5,
    brand_new: { a: 1 },
    user: 'u',
    prompt_cache_key: 'k',
    tools: [{ type: 'custom', name: 'c' }],
    truncation: 'auto',
    request_id: 'x',
    conversation_id: 'c',
    web_search: false,
    client_context: {},
    optimization: {},
    service_tier: 'priority',
    store: true,
    background: false,
    previous_response_id: null,
    max_output_tokens: 9,
    metadata: { intelligent_reroute: true, mine: 'm' },
    stream: false,
    stream_options: { include_obfuscation: true },
    text: { format: { type: 'json_object' }, verbosity: 'low' },
    ...JSON.parse('{"__proto__":{"polluted":1}}'),
  });
  assert.deepEqual(sent, {
    ...always,
    instructions: 'be brief',
    input: 'hi, in JSON',
    temperature: 0.5,
    user: 'u',
    prompt_cache_key: 'k',
    tools: [{ type: 'custom', name: 'c' }],
    truncation: 'auto',
    metadata: { mine: 'm' },
    text: { format: { type: 'json_object' }, verbosity: 'low' },
  });
});

test('response_format goes before text.format', () => {
  const schema = { type: 'object' };
  const sent = forward({
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    text: { format: { type: 'text' }, verbosity: 'low' },
  });
  const format = { type: 'json_schema', name: 'n', schema, strict: false };
  assert.deepEqual(sent.text, { verbosity: 'low', format });
});

test('calls the vendor’s address with the key, without padding where that can be asked', () => {
  const { call } = encode(neutralRequest({ messages: [userMessage('hi')] }));
  assert.equal(call.url, 'http://localhost:1234/v1/responses');
  assert.equal(call.headers.authorization, 'Bearer secret');
  const vendor = { ...target, baseUrl: 'https://api.openai.com/v1' };
  const { sent } = encode(neutralRequest({ messages: [userMessage('hi')] }), vendor);
  assert.deepEqual(sent.stream_options, { include_obfuscation: false });
});

test('asks for sealed reasoning where a model reasons, and for nothing twice', () => {
  const include = ['reasoning.encrypted_content'];
  assert.equal(forward({}).include, undefined);
  assert.deepEqual(forward({ reasoning: { effort: 'low' } }).include, include);
  assert.deepEqual(forward({ reasoning: {}, include }).include, include);
  const reasons = { ...target, upstreamModel: 'gpt-5.1-mini' };
  assert.deepEqual(encode(neutralRequest(), reasons).sent.include, include);
  const plain = { ...target, upstreamModel: 'gpt-4.1-mini' };
  assert.equal(encode(neutralRequest(), plain).sent.include, undefined);
});

test('items of an earlier turn lose ids that would be looked up; seals are opened', () => {
  const native = { id: 'rs_up', encrypted_content: 'gAAA', summary: [] };
  const seals = accountSeals();
  const sealed = sealReasoning({ format: 'responses', value: native }, seals);
  const foreign = sealReasoning({ format: 'messages', value: { signature: 's' } }, seals);
  const summary = [{ type: 'summary_text', text: 'shown' }];
  const output = [{ type: 'output_text', text: 'a', annotations: [] }];
  const search = { type: 'web_search_call', id: 'ws_0', status: 'completed' };
  const sent = forward({
    input: [
      { type: 'message', role: 'user', content: 'hi' },
      { type: 'reasoning', id: 'rs_0', summary, encrypted_content: sealed },
      { type: 'reasoning', id: 'rs_1', summary, encrypted_content: foreign },
      { type: 'reasoning', id: 'rs_2', summary },
      { type: 'reasoning', id: 'rs_3', summary, encrypted_content: 'own' },
      search,
      { type: 'message', id: 'msg_0', role: 'assistant', status: 'completed', content: output },
      { type: 'function_call', id: 'fc_0', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'done' },
    ],
  });
  assert.deepEqual(sent.input, [
    { type: 'message', role: 'user', content: 'hi' },
    { type: 'reasoning', id: 'rs_up', summary, encrypted_content: 'gAAA' },
    { type: 'reasoning', id: 'rs_3', summary, encrypted_content: 'own' },
    search,
    { type: 'message', role: 'assistant', status: 'completed', content: output },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'done' },
  ]);
});

test('changed messages are sent instead of the body’s, with native items in their place', () => {
  const body = { input: 'old', instructions: 'old', temperature: 1, model: 'alias' };
  const read = responsesDialect.readRequest(body, {});
  const reasoning = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'e' };
  const messages: GenerationRequest['messages'] = [
    { ...userMessage('be brief'), role: 'system' },
    userMessage('hi'),
    {
      role: 'assistant',
      parts: [
        { type: 'native', format: 'responses', value: reasoning },
        { type: 'text', text: 'a' },
        { type: 'native', format: 'messages', value: { type: 'thinking' } },
      ],
      toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }],
      toolCallId: null,
    },
    { role: 'tool', parts: [{ type: 'text', text: 'x' }], toolCalls: [], toolCallId: 'c' },
  ];
  const source = { ...read.source, rewritten: true };
  const { sent } = encode({ ...read, messages, source });
  assert.deepEqual(sent, {
    ...always,
    temperature: 1,
    instructions: 'be brief',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      reasoning,
      { role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
    ],
  });
});

test('other formats are translated: tools flat and not strict, settings, pictures, files', () => {
  const request = neutralRequest({
    messages: [
      {
        role: 'user',
        parts: [
          { type: 'image', url: 'https://x.test/a.png', detail: 'low' },
          { type: 'file', url: 'data:application/pdf;base64,AA==', name: 'a.pdf' },
          { type: 'file', url: 'https://x.test/a.pdf', name: null },
        ],
        toolCalls: [],
        toolCallId: null,
      },
    ],
    tools: [{ name: 'f', description: 'does', parameters: null, strict: null }],
    toolChoice: { name: 'f' },
    parallelToolCalls: false,
    outputFormat: { type: 'json_object' },
    reasoning: { effort: null, budgetTokens: 9_000, summary: true },
  });
  const { sent } = encode(request, target, { nativeSearch: true, reasons: true });
  assert.deepEqual(sent, {
    ...always,
    include: ['reasoning.encrypted_content'],
    input: [
      { role: 'system', content: 'Answer with one JSON object.' },
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'low' },
          {
            type: 'input_file',
            filename: 'a.pdf',
            file_data: 'data:application/pdf;base64,AA==',
          },
          { type: 'input_file', file_url: 'https://x.test/a.pdf' },
        ],
      },
    ],
    tools: [
      {
        type: 'function',
        name: 'f',
        description: 'does',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
      { type: 'web_search' },
    ],
    tool_choice: { type: 'function', name: 'f' },
    parallel_tool_calls: false,
    text: { format: { type: 'json_object' } },
    reasoning: { effort: 'high', summary: 'auto' },
  });
});

test('a budget to think, which agents give every model, is told to those that reason', () => {
  const messages = [userMessage('hi')];
  const told = (reasoning: GenerationRequest['reasoning'], reasons: boolean) => {
    const { sent } = encode(neutralRequest({ messages, reasoning }), target, { reasons });
    return [sent.reasoning, sent.include];
  };
  const sealed = ['reasoning.encrypted_content'];
  const budget = { effort: null, budgetTokens: 2_000, summary: true };
  assert.deepEqual(told(budget, true), [{ effort: 'low', summary: 'auto' }, sealed]);
  assert.deepEqual(told(budget, false), [undefined, undefined]);
  assert.deepEqual(told({ ...budget, effort: 'high' }, false), [
    { effort: 'high', summary: 'auto' },
    sealed,
  ]);
});

test('reasoning that nothing of its turn follows is left out, as the format wants it', () => {
  const value = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'e' };
  const said = (parts: GenerationRequest['messages'][number]['parts']) => ({
    role: 'assistant' as const,
    parts,
    toolCalls: [],
    toolCallId: null,
  });
  const lone = said([{ type: 'native', format: 'responses', value }]);
  const items = encodeInput([lone, userMessage('hi'), lone]);
  assert.deepEqual(items, [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }]);
});

test('says what it cannot express, by the name of the client’s format', () => {
  const sampling = { ...neutralRequest().sampling, stop: ['x'] };
  const source = { format: 'messages', body: {}, headers: {}, rewritten: false } as const;
  assert.equal(openaiResponses.lacks(neutralRequest()), null);
  assert.equal(openaiResponses.lacks(neutralRequest({ sampling })), null);
  assert.equal(openaiResponses.lacks(neutralRequest({ sampling }), true), 'stop');
  assert.equal(openaiResponses.lacks(neutralRequest({ sampling, source }), true), 'stop_sequences');
  const value = { type: 'web_search_2025' };
  const nativeTools = [{ format: 'messages' as const, value, path: 'tools[0]' }];
  assert.equal(openaiResponses.lacks(neutralRequest({ nativeTools })), 'tools');
  const audio = { type: 'native', format: 'chat', value: { type: 'input_audio' } } as const;
  const heard = { ...userMessage('hi'), parts: [audio] };
  assert.equal(openaiResponses.lacks(neutralRequest({ messages: [heard] })), 'messages');
  const thought = { ...heard, role: 'assistant' as const };
  assert.equal(openaiResponses.lacks(neutralRequest({ messages: [thought] })), null);
});

test('counts input tokens where the vendor does', () => {
  const request = responsesDialect.readRequest({ model: 'alias', input: 'hi' }, {});
  const call = openaiResponses.counting?.encode(request, target);
  assert.equal(call?.url, 'http://localhost:1234/v1/responses/input_tokens');
  assert.deepEqual(JSON.parse(JSON.stringify(call.body)), { model: 'upstream-model', input: 'hi' });
  const read = (body: string) => openaiResponses.counting?.read(body);
  assert.equal(read('{"object":"response.input_tokens","input_tokens":7}'), 7);
  for (const bad of ['', '{}', '{"input_tokens":"7"}', '{"input_tokens":-1}', '[]']) {
    assert.equal(read(bad), null, bad);
  }
});
