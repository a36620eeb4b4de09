// The Gemini family of the simulator against the vendor's own client and published types.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  ApiError,
  type Content,
  FunctionCallingConfigMode,
  type FunctionDeclaration,
  type GenerateContentConfig,
  GoogleGenAI,
  Type,
} from '@google/genai';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { encoded, eventsOf, eventually, post, statsOf } from './probe.ts';
import { readPublished } from './published.ts';

const model = 'simulated-gemini-large-2026-01-15';
const declarations = fileURLToPath(import.meta.resolve('@google/genai'));
const published = readPublished(declarations.replace(/node\/index\.\w+$/, 'genai.d.ts'));
const headers = { 'x-goog-api-key': 'right' };
let sim: RunningSim;
let client: GoogleGenAI;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
  client = clientWith('right');
});
after(() => sim.close());

function clientWith(apiKey: string): GoogleGenAI {
  const retryOptions = { attempts: 1 };
  return new GoogleGenAI({
    apiKey,
    httpOptions: { baseUrl: `http://127.0.0.1:${sim.port}`, retryOptions },
  });
}

const parameters = {
  type: Type.OBJECT,
  properties: { city: { type: Type.STRING } },
  required: ['city'],
};
const weather: FunctionDeclaration = { name: 'weather', description: 'weather', parameters };
const clock: FunctionDeclaration = {
  name: 'clock',
  parametersJsonSchema: { type: 'object', additionalProperties: false, properties: {} },
};
const tools = [{ functionDeclarations: [weather, clock] }];
const searching = { tools: [{ googleSearch: {} }] };
const thinking = { thinkingConfig: { includeThoughts: true } };
const everything: [string, GenerateContentConfig][] = [
  ['[[sim tokens=40 cached=1]]', { systemInstruction: 'be kind' }],
  ['[[sim tokens=0]]', {}],
  ['[[sim reasoning=3]]', thinking],
  ['[[sim reasoning=3]]', {}],
  ['[[sim tool=weather,clock reasoning=1]]', { tools }],
  ['penguins [[sim search=2]]', searching],
  ['penguins [[sim search=1 empty=1]]', searching],
  ['[[sim refusal=1]]', {}],
  ['[[sim refusal=prompt]]', {}],
  ['[[sim tokens=9]]', { maxOutputTokens: 4 }],
];

function ask(contents: string, config: GenerateContentConfig = {}) {
  return { model, contents, config };
}

function rawBody(text: string, more: object = {}) {
  return { contents: [{ role: 'user', parts: [{ text }] }], ...more };
}

function postRaw(method: string, body: object): Promise<Response> {
  return post(sim, `/v1beta/models/${model}:${method}`, body, headers);
}

test('what it sends has the published types, whole and streamed', async () => {
  const bodies: [string, object][] = [
    ['[[sim tokens=40 cached=1]]', { system_instruction: { parts: [{ text: 'be kind' }] } }],
    ['[[sim reasoning=3]]', { generationConfig: thinking }],
    ['[[sim tool=weather,clock reasoning=1]]', { tools }],
    ['penguins [[sim search=2]]', { tools: [{ google_search: {} }] }],
    ['[[sim refusal=1 text=partly]]', {}],
    ['[[sim refusal=prompt]]', {}],
    ['[[sim tokens=9]]', { generation_config: { max_output_tokens: 4 } }],
  ];
  for (const [text, more] of bodies) {
    const whole = await postRaw('generateContent', rawBody(text, more));
    assert.equal(whole.status, 200, text);
    const values = [await whole.json()];
    const reply = await postRaw('streamGenerateContent?alt=sse', rawBody(text, more));
    for (const { data } of await eventsOf(reply)) values.push(data);
    assert.ok(values.length > 1);
    for (const value of values) {
      assert.deepEqual(published.findings(value, 'GenerateContentResponse'), [], text);
    }
  }
  const invented = { candidates: [{ finishReason: 'DONE', mood: 1 }] };
  assert.equal(published.findings(invented, 'GenerateContentResponse').length, 2);
});

test('streams the same text, thoughts, calls and counts as the whole answer', async () => {
  for (const [text, config] of everything) {
    const whole = await client.models.generateContent(ask(text, config));
    let seen = '';
    let thoughts = '';
    const calls: unknown[] = [];
    let last = whole;
    for await (const piece of await client.models.generateContentStream(ask(text, config))) {
      for (const part of piece.candidates?.[0]?.content?.parts ?? []) {
        if (part.thought === true) thoughts += part.text;
        else seen += part.text ?? '';
        if (part.functionCall) calls.push(part.functionCall.name);
      }
      last = piece;
    }
    const parts = whole.candidates?.[0]?.content?.parts ?? [];
    assert.equal(seen, whole.text ?? '', text);
    assert.equal(thoughts, parts.find((part) => part.thought)?.text ?? '', text);
    assert.deepEqual(calls, whole.functionCalls?.map(({ name }) => name) ?? [], text);
    assert.deepEqual(last.usageMetadata, whole.usageMetadata, text);
    assert.equal(last.candidates?.[0]?.finishReason, whole.candidates?.[0]?.finishReason, text);
    const grounding = last.candidates?.[0]?.groundingMetadata;
    assert.deepEqual(grounding, whole.candidates?.[0]?.groundingMetadata, text);
  }
});

test('tells running counts with every chunk: the last is the sum', async () => {
  const contents = 'one [[sim tokens=3 reasoning=2]]';
  const told: unknown[] = [];
  const stream = await client.models.generateContentStream(ask(contents, thinking));
  for await (const { usageMetadata: usage } of stream) {
    told.push([usage?.thoughtsTokenCount, usage?.candidatesTokenCount, usage?.totalTokenCount]);
  }
  assert.deepEqual(told, [
    [1, undefined, 5],
    [2, undefined, 6],
    [2, 1, 7],
    [2, 2, 8],
    [2, 3, 9],
    [2, 3, 9],
  ]);
});

test('counts words of all contents, and countTokens says the same beforehand', async () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
  const file = { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } };
  const parts = [{ text: 'three [[sim tokens=3 cached=2]]' }, image, file];
  const contents = [
    { role: 'user', parts: [{ text: 'one two' }] },
    { role: 'model', parts: [{ text: 'yes' }] },
    { role: 'user', parts },
  ];
  const { totalTokens } = await client.models.countTokens({ model, contents });
  const { usageMetadata } = await client.models.generateContent({ model, contents });
  assert.deepEqual([totalTokens, usageMetadata?.promptTokenCount], [7, 7]);
  assert.equal(usageMetadata?.cachedContentTokenCount, 2);
  assert.equal(usageMetadata?.candidatesTokenCount, 3);
  const systemInstruction = { parts: [{ text: 'be kind' }] };
  const whole = {
    generateContentRequest: { model: `models/${model}`, contents, systemInstruction },
  };
  const counted = (await (await postRaw('countTokens', whole)).json()) as { totalTokens: number };
  assert.equal(counted.totalTokens, 9);
});

test('ends for its own reasons: ceiling, stop sequence, safety, a blocked prompt', async () => {
  const endOf = async (text: string, config: GenerateContentConfig = {}) => {
    const {
      candidates,
      promptFeedback,
      text: said,
    } = await client.models.generateContent(ask(text, config));
    return [candidates?.[0]?.finishReason, said, promptFeedback?.blockReason];
  };
  assert.deepEqual(await endOf('[[sim tokens=9]]', { maxOutputTokens: 2 }), [
    'MAX_TOKENS',
    ' t0 t1',
    undefined,
  ]);
  assert.deepEqual(await endOf('[[sim tokens=9]]', { stopSequences: [' t1'] }), [
    'STOP',
    ' t0',
    undefined,
  ]);
  assert.deepEqual(await endOf('[[sim refusal=1]]'), ['SAFETY', undefined, undefined]);
  assert.deepEqual(await endOf('[[sim refusal=1 text=part]]'), ['SAFETY', 'part', undefined]);
  assert.deepEqual(await endOf('[[sim refusal=prompt]]'), [undefined, undefined, 'SAFETY']);
});

test('a scripted agent calls tool after tool with the arguments that were given', async () => {
  const [first, second] = [encoded({ city: 'Köln' }), encoded({ city: 'Oslo' })];
  const script = `call=weather:${first},clock call=weather:${second}`;
  const contents: Content[] = [
    { role: 'user', parts: [{ text: `go [[sim ${script} reasoning=1 text=all_done]]` }] },
  ];
  const called: unknown[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const reply = await client.models.generateContent({ model, contents, config: { tools } });
    const calls = reply.functionCalls ?? [];
    contents.push(reply.candidates?.[0]?.content ?? assert.fail('no content'));
    if (calls.length === 0) {
      assert.equal(reply.text, 'all done');
      break;
    }
    called.push(calls.map(({ name, args }) => [name, args]));
    const parts = calls.map(({ id, name }) => ({
      functionResponse: { id: id ?? '', name: name ?? '', response: { output: 'sunny day' } },
    }));
    contents.push({ role: 'user', parts });
  }
  assert.deepEqual(called, [
    [
      ['weather', { city: 'Köln' }],
      ['clock', {}],
    ],
    [['weather', { city: 'Oslo' }]],
  ]);
});

test('satisfies either kind of schema, and calls the function that is insisted on', async () => {
  const responseMimeType = 'application/json';
  const own = { type: Type.OBJECT, required: ['n'], properties: { n: { type: Type.INTEGER } } };
  const json = {
    type: 'object',
    required: ['n'],
    properties: { n: { type: ['integer', 'null'] } },
  };
  for (const schema of [{ responseSchema: own }, { responseJsonSchema: json }]) {
    const config = { responseMimeType, ...schema };
    const { text } = await client.models.generateContent(ask('hi', config));
    assert.deepEqual(JSON.parse(text ?? ''), { n: 1 });
  }
  const functionCallingConfig = {
    mode: FunctionCallingConfigMode.ANY,
    allowedFunctionNames: ['weather'],
  };
  const config = { tools, toolConfig: { functionCallingConfig } };
  const { functionCalls } = await client.models.generateContent(ask('hi', config));
  assert.deepEqual(functionCalls?.[0]?.args, { city: 'simulated' });
});

test('grounds an answer where search is declared', async () => {
  const text = 'emperor penguins [[sim search=2 tokens=2]]';
  const found = await client.models.generateContent(ask(text, searching));
  const grounding = found.candidates?.[0]?.groundingMetadata;
  assert.deepEqual(grounding?.webSearchQueries, ['emperor penguins', 'emperor penguins 2']);
  assert.equal(grounding?.groundingChunks?.length, 2);
  assert.equal(grounding?.groundingSupports?.[1]?.segment?.text, ' t0 t1');
  const none = await client.models.generateContent(ask(text));
  assert.equal(none.candidates?.[0]?.groundingMetadata, undefined);
});

const call = { functionCall: { name: 'weather', args: {} }, thoughtSignature: '' };
const result = { functionResponse: { name: 'weather', response: { output: 'sunny' } } };
const user = (...parts: object[]) => ({ role: 'user', parts });
const own = (...parts: object[]) => ({ role: 'model', parts });
const hi = user({ text: 'hi' });
const declared = (parameters: object) => ({
  tools: [{ functionDeclarations: [{ name: 'a', parameters }] }],
});
const strictSchema = { type: 'object', properties: {}, additionalProperties: false };
const { thoughtSignature: _, ...unsigned } = call;
const refused: [string, object, RegExp][] = [
  ['no contents', { contents: [] }, /contents is not specified/],
  ['a role of others', { contents: [{ role: 'assistant', parts: [{ text: 'a' }] }] }, /valid role/],
  ['no parts', { contents: [user()] }, /must not be empty/],
  ['an empty part', { contents: [user({})] }, /required oneof field 'data'/],
  ['an unknown field', { messages: [] }, /Unknown name "messages": Cannot find field/],
  ['an unknown setting', { generationConfig: { maxTokens: 1 } }, /Unknown name "maxTokens"/],
  ['keywords of JSON Schema', declared(strictSchema), /"additionalProperties" at 'tools\[0\]/],
  ['a list of types', declared({ type: ['string', 'null'] }), /cannot start list/],
  [
    'a schema for plain text',
    { generationConfig: { responseSchema: { type: 'OBJECT' } } },
    /response_mime_type/,
  ],
  ['calls without results', { contents: [hi, own(call)] }, /number of function response parts/],
  ['results without calls', { contents: [user(result)] }, /number of function response parts/],
  [
    'an unsigned call',
    { contents: [hi, own(unsigned), user(result)] },
    /missing a thought_signature/,
  ],
  [
    'a changed signature',
    { contents: [hi, own({ ...call, thoughtSignature: 'AAAA' }), user(result)] },
    /Corrupted thought signature/,
  ],
];

test('refuses what the provider refuses', async () => {
  for (const [what, more, message] of refused) {
    const reply = await postRaw('generateContent', rawBody('hi', more));
    const { error } = (await reply.json()) as { error: Record<string, string> };
    assert.equal(reply.status, 400, what);
    assert.equal(error.status, 'INVALID_ARGUMENT');
    assert.match(String(error.message), message, what);
  }
  const lost = { ...call, thoughtSignature: 'skip_thought_signature_validator' };
  const contents = [hi, own(lost, unsigned), user(result, result)];
  assert.equal((await postRaw('generateContent', { contents })).status, 200);
});

test('words its errors as the provider does, and takes the key either way', async () => {
  const isError = (status: number, pattern: RegExp) => (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.status, status);
    assert.match(error.message, pattern);
    return true;
  };
  const wrong = clientWith('wrong').models.generateContent(ask('hi'));
  await assert.rejects(wrong, isError(400, /API_KEY_INVALID/));
  const unknown = client.models.generateContent({ ...ask('hi'), model: 'other' });
  await assert.rejects(unknown, isError(404, /NOT_FOUND/));
  const limited = client.models.generateContent(ask('[[sim status=429 retry_after=7]]'));
  await assert.rejects(limited, isError(429, /RESOURCE_EXHAUSTED.*"retryDelay":"7s"/));
  const path = `/v1beta/models/${encodeURIComponent(`${model}:generateContent`)}?key=right`;
  assert.equal((await post(sim, path, rawBody('hi'))).status, 200);
});

test('injects faults at the event that was named', async () => {
  const read = async (text: string) => {
    let seen = '';
    try {
      for await (const piece of await client.models.generateContentStream(ask(text))) {
        seen += piece.text ?? '';
      }
    } catch (error) {
      return { seen, error };
    }
    return { seen, error: null };
  };
  const cut = await read('[[sim fault=cut at=2]]');
  assert.equal(cut.seen, ' t0 t1');
  assert.ok(cut.error instanceof Error);
  for (const fault of ['error', 'failed']) {
    const failed = await read(`[[sim fault=${fault} at=1 gap_ms=20]]`);
    assert.equal(failed.seen, ' t0');
    assert.ok(failed.error instanceof ApiError, fault);
    assert.equal(failed.error.status, 503);
  }
  const split = await read('[[sim fault=split_utf8 text=grüße_漢字_🙂_end]]');
  assert.equal(split.seen, 'grüße 漢字 🙂 end');
  assert.equal((await read('[[sim unknown=1 tokens=3]]')).seen, ' t0 t1 t2');
  assert.ok((await read('[[sim fault=garbage at=1]]')).error instanceof Error);
});

test('leaves usage out or reports zeros when told to', async () => {
  for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
    const text = await (await postRaw(method, rawBody('[[sim fault=no_usage]]'))).text();
    assert.doesNotMatch(text, /usageMetadata/);
  }
  const { usageMetadata } = await client.models.generateContent(ask('[[sim fault=zero_usage]]'));
  assert.equal(usageMetadata?.totalTokenCount, 0);
});

test('a stalled stream that the client leaves is counted as aborted', async () => {
  const earlier = await statsOf(sim);
  const control = new AbortController();
  const stream = await client.models.generateContentStream(
    ask('[[sim fault=stall at=2]]', { abortSignal: control.signal }),
  );
  await assert.rejects(async () => {
    for await (const _ of stream) control.abort();
  });
  await eventually(async () => (await statsOf(sim)).aborted === earlier.aborted + 1);
});
