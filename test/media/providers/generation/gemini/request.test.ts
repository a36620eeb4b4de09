// What leaves for the Gemini API, and how its usage, its counts and its refusals are read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  ContentPart,
  GenerationRequest,
  Message,
} from '../../../../../media/model/request.ts';
import { noSampling } from '../../../../../media/model/request.ts';
import { signCallId } from '../../../../../media/providers/generation/call-ids.ts';
import type { UpstreamTarget } from '../../../../../media/providers/generation/contract.ts';
import { gemini } from '../../../../../media/providers/generation/gemini/family.ts';
import { readUsage } from '../../../../../media/providers/generation/gemini/usage.ts';
import { neutralRequest, userMessage } from '../../../../harness/request.ts';

const target: UpstreamTarget = {
  routeId: 'r',
  family: 'gemini',
  baseUrl: 'http://localhost:1234/v1beta/',
  apiKey: 'secret',
  upstreamModel: 'some-model',
};

function encode(change: Partial<GenerationRequest>, upstreamModel = 'some-model', search = false) {
  const messages = change.messages ?? [userMessage('hi')];
  const request = neutralRequest({ ...change, messages });
  const options = { outputTokensMax: 77, nativeSearch: search };
  const call = gemini.encodeRequest(request, { ...target, upstreamModel }, options);
  return { call, sent: JSON.parse(JSON.stringify(call.body)) };
}

function message(role: Message['role'], text: string, change: Partial<Message> = {}): Message {
  const parts: ContentPart[] = text === '' ? [] : [{ type: 'text', text }];
  return { role, parts, toolCalls: [], toolCallId: null, ...change };
}

function calling(...calls: [id: string, name: string, args: string][]): Message {
  const toolCalls = calls.map(([id, name, args]) => ({ id, name, arguments: args }));
  return message('assistant', '', { toolCalls });
}

const hi = { role: 'user', parts: [{ text: 'hi' }] };

test('addresses the model by its path and shows the key in its own header', () => {
  const { call, sent } = encode({});
  assert.equal(
    call.url,
    'http://localhost:1234/v1beta/models/some-model:streamGenerateContent?alt=sse',
  );
  assert.equal(call.headers['x-goog-api-key'], 'secret');
  assert.equal(call.headers.authorization, undefined);
  assert.deepEqual(sent, { contents: [hi], generationConfig: { maxOutputTokens: 77 } });
  assert.match(encode({}, 'tunedModels/x').call.url, /v1beta\/tunedModels\/x:stream/);
  assert.match(encode({}, 'a?b#c').call.url, /models\/a%3Fb%23c:stream/);
});

test('gathers instructions, joins turns, and answers calls by their names', () => {
  const signed = signCallId({ id: 'c1', signature: 'c2ln' });
  const { sent } = encode({
    messages: [
      message('system', 'be kind'),
      message('user', 'one'),
      message('assistant', 'I look.'),
      calling([signed, 'find', '{"a":1}'], ['c2', 'list', '']),
      message('tool', 'found', { toolCallId: signed }),
      message('tool', 'broken', { toolCallId: 'c2', toolFailed: true }),
      message('developer', 'be brief'),
      message('user', 'two'),
      message('user', 'three'),
      calling(['c3', 'find', 'no json'], ['c4', 'find', '[1]']),
      message('tool', 'x', { toolCallId: 'lost' }),
    ],
  });
  assert.deepEqual(sent.systemInstruction, { parts: [{ text: 'be kind' }, { text: 'be brief' }] });
  const result = (id: string, name: string, response: unknown) => ({
    functionResponse: { id, name, response },
  });
  const called = (id: string, name: string, args: unknown) => ({
    functionCall: { id, name, args },
  });
  assert.deepEqual(sent.contents, [
    { role: 'user', parts: [{ text: 'one' }] },
    {
      role: 'model',
      parts: [
        { text: 'I look.' },
        { ...called('c1', 'find', { a: 1 }), thoughtSignature: 'c2ln' },
        called('c2', 'list', {}),
      ],
    },
    {
      role: 'user',
      parts: [result('c1', 'find', { output: 'found' }), result('c2', 'list', { error: 'broken' })],
    },
    { role: 'user', parts: [{ text: 'two' }] },
    { role: 'user', parts: [{ text: 'three' }] },
    {
      role: 'model',
      parts: [
        {
          ...called('c3', 'find', { value: 'no json' }),
          thoughtSignature: 'skip_thought_signature_validator',
        },
        called('c4', 'find', { value: [1] }),
      ],
    },
    {
      role: 'user',
      parts: [
        result('c3', 'find', { error: '(This call was not answered.)' }),
        result('c4', 'find', { error: '(This call was not answered.)' }),
        { text: 'x' },
      ],
    },
  ]);
});

test('a conversation that begins with calls of the model gets a beginning', () => {
  const messages = [calling(['c', 'f', '{}']), message('tool', 'x', { toolCallId: 'c' })];
  const { contents } = encode({ messages }, 'gemini-2.5-flash').sent;
  assert.deepEqual(
    contents.map(({ role, parts }: { role: string; parts: object[] }) => [
      role,
      parts.map((part) => Object.keys(part)[0]),
    ]),
    [
      ['user', ['text']],
      ['model', ['functionCall']],
      ['user', ['functionResponse']],
    ],
  );
});

test('a last turn without words is still a turn: the model does not go on with its own', () => {
  const messages = [message('user', 'a'), message('assistant', 'b'), message('user', '')];
  const { contents } = encode({ messages }, 'gemini-2.5-flash').sent;
  assert.deepEqual(contents.at(-1), { role: 'user', parts: [{ text: '(An empty message.)' }] });
  assert.equal(contents.length, 3);
});

test('an older model is sent no stand-in for a signature', () => {
  const messages = [message('user', 'a'), calling(['c', 'f', '{}'])];
  const older = encode({ messages }, 'gemini-2.5-flash').sent;
  assert.equal(older.contents[1].parts[0].thoughtSignature, undefined);
  const newer = encode({ messages }, 'gemini-3-flash').sent;
  assert.equal(newer.contents[1].parts[0].thoughtSignature, 'skip_thought_signature_validator');
});

test('never sends an empty conversation', () => {
  const { sent } = encode({ messages: [message('system', 'hi'), message('assistant', '')] });
  assert.deepEqual(sent.contents, [hi]);
  assert.equal(sent.systemInstruction, undefined);
  assert.equal(encode({ messages: [message('user', '')] }).sent.contents.length, 1);
});

test('sends data as data and addresses as files, and says what it has no form for', () => {
  const image = (url: string): ContentPart => ({ type: 'image', url, detail: null });
  const parts: ContentPart[] = [
    image('data:image/png;base64,AAAA'),
    image('https://x.example/a.webp?b=1'),
    image('https://x.example/a'),
    { type: 'file', url: 'data:,a%20b', name: null },
    { type: 'file', url: 'https://x.example/a.pdf', name: 'a' },
    {
      type: 'native',
      format: 'chat',
      value: { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
    },
  ];
  const thinking: ContentPart = {
    type: 'native',
    format: 'messages',
    value: { type: 'thinking' },
  };
  const messages = [
    message('user', '', { parts }),
    message('assistant', '', { parts: [thinking] }),
  ];
  assert.equal(gemini.lacks(neutralRequest({ messages })), null);
  assert.equal(encode({ messages }).sent.contents.length, 1);
  assert.deepEqual(encode({ messages }).sent.contents[0].parts, [
    { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    { fileData: { mimeType: 'image/webp', fileUri: 'https://x.example/a.webp?b=1' } },
    { fileData: { mimeType: 'image/jpeg', fileUri: 'https://x.example/a' } },
    { inlineData: { mimeType: 'text/plain', data: Buffer.from('a b').toString('base64') } },
    { fileData: { mimeType: 'application/pdf', fileUri: 'https://x.example/a.pdf' } },
    { inlineData: { mimeType: 'audio/mp3', data: 'BBBB' } },
  ]);
  const lost = (part: ContentPart) =>
    gemini.lacks(neutralRequest({ messages: [message('user', '', { parts: [part] })] }));
  assert.equal(lost({ type: 'file', url: 'file-123', name: null }), 'messages');
  const stored = { type: 'file', file: { file_id: 'file-123' } };
  assert.equal(lost({ type: 'native', format: 'chat', value: stored }), 'messages');
  // A document in pieces was left out in silence: the model answered without having seen it.
  const pieces = { type: 'content', content: [{ type: 'text', text: 'all that is known' }] };
  const document = { type: 'document', source: pieces };
  assert.equal(lost({ type: 'native', format: 'messages', value: document }), 'messages');
  const result: ContentPart = { type: 'native', format: 'messages', value: document };
  const answered = [
    message('user', 'x'),
    calling(['c1', 'f', '{}']),
    message('tool', '', { toolCallId: 'c1', parts: [result] }),
  ];
  assert.equal(gemini.lacks(neutralRequest({ messages: answered })), 'messages');
  const stored2 = { type: 'input_image', file_id: 'file-123' };
  assert.equal(lost({ type: 'native', format: 'responses', value: stored2 }), 'messages');
  const tool = { format: 'responses' as const, value: { type: 'web_search' }, path: '' };
  assert.equal(gemini.lacks(neutralRequest({ nativeTools: [tool] })), 'tools');
  const stop = ['a', 'b', 'c', 'd', 'e', 'f'];
  const many = neutralRequest({ sampling: { ...noSampling, stop } });
  assert.equal(gemini.lacks(many), null);
  assert.deepEqual(gemini.unwatched(many), ['f']);
});

test('declares tools with their JSON Schema, and insists as the client does', () => {
  const parameters = { type: 'object', properties: { a: { type: 'string' } } };
  const tools = [{ name: 'f', description: 'does f', parameters, strict: true }];
  const bare = [{ name: 'g', description: null, parameters: null, strict: null }];
  const { sent } = encode({ tools: [...tools, ...bare], toolChoice: { name: 'f' } });
  assert.deepEqual(sent.tools, [
    {
      functionDeclarations: [
        { name: 'f', description: 'does f', parametersJsonSchema: parameters },
        { name: 'g' },
      ],
    },
  ]);
  assert.deepEqual(sent.toolConfig, {
    functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] },
  });
  for (const [choice, mode] of [
    ['auto', 'AUTO'],
    ['none', 'NONE'],
    ['required', 'ANY'],
  ] as const) {
    const { toolConfig } = encode({ tools, toolChoice: choice }).sent;
    assert.deepEqual(toolConfig, { functionCallingConfig: { mode } });
  }
  assert.deepEqual(encode({}, 'm', true).sent.tools, [{ googleSearch: {} }]);
  assert.equal(encode({ tools }, 'm', true).sent.tools.length, 1, 'not beside tools');
});

test('sends every setting that was given', () => {
  const schema = { type: 'object' };
  const { generationConfig } = encode({
    sampling: {
      ...noSampling,
      temperature: 0,
      topP: 0.5,
      topK: 3,
      seed: 7,
      presencePenalty: 1,
      frequencyPenalty: -1,
      stop: ['x'],
    },
    outputFormat: { type: 'json_schema', name: 'n', schema, strict: true },
    reasoning: { effort: 'medium', budgetTokens: null, summary: true },
  }).sent;
  assert.deepEqual(generationConfig, {
    maxOutputTokens: 77,
    temperature: 0,
    topP: 0.5,
    topK: 3,
    seed: 7,
    presencePenalty: 1,
    frequencyPenalty: -1,
    stopSequences: ['x'],
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'MEDIUM' },
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
  });
});

test('asks for thinking in the words of the model’s generation', () => {
  const thinking = (effort: string | null, model: string, budgetTokens: number | null = null) =>
    encode({ reasoning: { effort, budgetTokens, summary: false } }, model).sent.generationConfig
      .thinkingConfig;
  assert.deepEqual(thinking('high', 'gemini-2.5-flash'), { thinkingBudget: 24_576 });
  assert.deepEqual(thinking('none', 'gemini-2.5-flash'), { thinkingBudget: 0 });
  assert.deepEqual(thinking('none', 'gemini-2.5-pro'), { thinkingBudget: 128 });
  assert.deepEqual(thinking('none', 'gemini-3-flash'), { thinkingLevel: 'MINIMAL' });
  assert.deepEqual(thinking('minimal', 'gemini-3.1-pro'), { thinkingLevel: 'LOW' });
  assert.deepEqual(thinking('low', 'gemini-3-flash', 100), { thinkingBudget: 100 });
  assert.equal(thinking('enormous', 'gemini-3-flash'), undefined);
  assert.equal(thinking(null, 'gemini-3-flash'), undefined);
});

test('a budget to think, which agents give every model, is told to those that reason', () => {
  const reasoning = { effort: null, budgetTokens: 2_000, summary: true };
  const request = neutralRequest({ messages: [message('user', 'hi')], reasoning });
  const told = (reasons: boolean) => {
    const options = { outputTokensMax: 77, nativeSearch: false, reasons };
    return JSON.parse(JSON.stringify(gemini.encodeRequest(request, target, options).body))
      .generationConfig.thinkingConfig;
  };
  assert.deepEqual(told(true), { includeThoughts: true, thinkingBudget: 2_000 });
  assert.equal(told(false), undefined);
});

test('counts instructions and tools too', () => {
  const messages = [message('system', 'be kind'), message('user', 'hi')];
  const counting = gemini.counting;
  assert.ok(counting);
  const call = counting.encode(neutralRequest({ messages }), target);
  assert.equal(call.url, 'http://localhost:1234/v1beta/models/some-model:countTokens');
  assert.deepEqual(JSON.parse(JSON.stringify(call.body)), {
    generateContentRequest: {
      model: 'models/some-model',
      contents: [hi],
      systemInstruction: { parts: [{ text: 'be kind' }] },
    },
  });
  assert.equal(counting.read('{"totalTokens":12,"cachedContentTokenCount":3}'), 12);
  assert.equal(counting.read('{}'), 0);
  for (const odd of ['', '[]', '{"error":{}}', '{"totalTokens":"1"}', '{"totalTokens":-1}']) {
    assert.equal(counting.read(odd), null, odd);
  }
});

test('usage lands in disjoint buckets, also where thoughts are inside of the candidates', () => {
  const reported = { promptTokenCount: 100, cachedContentTokenCount: 30, thoughtsTokenCount: 40 };
  const beside = readUsage({ ...reported, candidatesTokenCount: 50, totalTokenCount: 190 }, 2);
  assert.deepEqual(beside, {
    inputTokens: 70,
    cachedInputTokens: 30,
    cacheWriteTokens: 0,
    outputTokens: 50,
    reasoningTokens: 40,
    searchCalls: 2,
  });
  const inside = readUsage({ ...reported, candidatesTokenCount: 50, totalTokenCount: 150 }, 0);
  assert.equal(inside?.outputTokens, 10);
  assert.equal(inside?.reasoningTokens, 40);
  assert.equal(readUsage({ totalTokenCount: 0 }, 0)?.inputTokens, 0, 'a zero is a report');
  assert.equal(readUsage({ totalTokenCount: 0 }, 0)?.unreadable, undefined);
  assert.equal(readUsage({ totalTokenCount: 90 }, 0)?.unreadable, true, 'a total alone is none');
  for (const none of [null, undefined, [], 'x', {}, { promptTokenCount: 'many' }]) {
    assert.equal(readUsage(none, 0), null);
  }
});

test('tells a refused request from a refused key, and finds the wait in the body', () => {
  const failure = (code: number, status: string, details: unknown[] = []) =>
    gemini.readFailure(
      code,
      {},
      JSON.stringify({ error: { code, status, message: 'm', details } }),
    );
  assert.equal(failure(400, 'INVALID_ARGUMENT').kind, 'rejected');
  assert.equal(failure(400, 'FAILED_PRECONDITION').kind, 'failed');
  const reason = { '@type': 'google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' };
  const refused = failure(400, 'INVALID_ARGUMENT', [reason]);
  assert.deepEqual([refused.kind, refused.status], ['failed', 401]);
  const busy = failure(429, 'RESOURCE_EXHAUSTED', [{ retryDelay: '45.837906927s' }]);
  assert.deepEqual([busy.kind, busy.retryAfterMs], ['busy', 45_838]);
  assert.equal(failure(503, 'UNAVAILABLE').kind, 'failed');
  assert.equal(gemini.readFailure(502, { 'retry-after': '2' }, '<html>').retryAfterMs, 2000);
});
