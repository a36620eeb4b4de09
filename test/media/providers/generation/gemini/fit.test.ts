// What leaves for the Gemini API, in the form that it is not known to refuse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asked,
  called,
  calledInChat,
  hi,
  longNames,
  type Members,
  oddPattern,
  pngBase64,
  sent,
  tool,
} from '../fitting/asked.ts';

const family = 'gemini';
const text = { type: 'string' };
const object = (properties: Members, more: Members = {}) => ({
  type: 'object',
  properties,
  ...more,
});

interface Declared extends Members {
  name: string;
  parametersJsonSchema: Members;
}

interface Sending {
  contents: { parts: (Members & { functionCall: Members; functionResponse: Members })[] }[];
  tools: [{ functionDeclarations: Declared[] }];
  toolConfig: { functionCallingConfig: Members };
  generationConfig: Members;
}

function told(body: Members): Sending {
  return body as unknown as Sending;
}

test('schemas are told in its subset, and patterns in those of RE2', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...object({
      id: { $ref: '#/$defs/id', description: 'whose' },
      mode: { const: 'fast' },
      look: { ...text, pattern: oddPattern },
      word: { ...text, pattern: '^\\p{L}+$' },
      count: { type: 'integer', exclusiveMinimum: 0 },
      some: { type: ['string', 'number', 'null'] },
      list: { type: 'array' },
    }),
    anyOf: [{ required: ['id'] }, { required: ['mode'] }],
    $defs: { id: { ...text, minLength: 1 } },
  };
  const request = asked('messages', { messages: hi, tools: [tool('messages', 'f', schema)] });
  const [{ functionDeclarations }] = told(sent(family, request).body).tools;
  assert.deepEqual(
    functionDeclarations[0]?.parametersJsonSchema,
    object({
      id: { ...text, minLength: 1, description: 'whose' },
      mode: { enum: ['fast'] },
      look: text,
      word: { ...text, pattern: '^\\p{L}+$' },
      count: { type: 'integer', minimum: 1 },
      some: { anyOf: [text, { type: 'number' }, { type: 'null' }] },
      list: { type: 'array', items: {} },
    }),
  );
});

test('so is the format of an answer', () => {
  const schema = object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { const: 1 } } });
  const response_format = { type: 'json_schema', json_schema: { name: 'n', schema } };
  const request = asked('chat', { messages: hi, response_format });
  const { generationConfig } = told(sent(family, request).body);
  assert.deepEqual(generationConfig.responseJsonSchema, object({ a: { enum: [1] } }));
});

test('names begin as it wants, and are told in calls, choices and histories', () => {
  const names = ['3d.view', 'files read', longNames[0], longNames[1], 'plain:name.1'];
  const tools = names.map((name) => tool('messages', name));
  const tool_choice = { type: 'tool', name: names[0] };
  const request = asked('messages', { messages: called('3d.view', 't1'), tools, tool_choice });
  const { fitted, body } = sent(family, request);
  const { contents, tools: list, toolConfig } = told(body);
  const declared = list[0].functionDeclarations.map(({ name }) => name);
  assert.equal(new Set(declared).size, names.length);
  for (const name of declared) assert.match(name, /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/);
  assert.equal(declared[4], 'plain:name.1');
  assert.deepEqual(toolConfig.functionCallingConfig.allowedFunctionNames, [declared[0]]);
  assert.equal(contents[1]?.parts[0]?.functionCall.name, declared[0]);
  assert.equal(contents[2]?.parts[0]?.functionResponse.name, declared[0]);
  const meant = declared.map((name) => fitted.names?.meant.get(name) ?? name);
  assert.deepEqual(meant, names);
});

test('penalties are for models before 2.5', () => {
  const request = asked('chat', { messages: hi, presence_penalty: 0.5, frequency_penalty: 0 });
  for (const [upstreamModel, isTold] of [
    ['gemini-2.0-flash', true],
    ['gemini-2.5-flash', false],
    ['gemini-3-pro-preview', false],
    ['models/gemini-2.5-pro', false],
  ] as const) {
    const { fitted, body } = sent(family, request, { upstreamModel });
    const { generationConfig } = told(body);
    assert.equal('presencePenalty' in generationConfig, isTold, upstreamModel);
    assert.deepEqual(fitted.dropped, isTold ? [] : ['presence_penalty']);
  }
});

test('a picture is of the type that its bytes show', () => {
  const image_url = { url: `data:image/webp;base64,${pngBase64}` };
  const content = [{ type: 'image_url', image_url }];
  const request = asked('chat', { messages: [{ role: 'user', content }] });
  const [first] = told(sent(family, request).body).contents;
  assert.deepEqual(first?.parts, [{ inlineData: { mimeType: 'image/png', data: pngBase64 } }]);
});

test('what has nothing to fit is the same request', () => {
  const tools = [tool('chat', 'f', object({ a: { ...text, enum: ['x'] } }))];
  const request = asked('chat', { messages: calledInChat('f', 'call_1'), tools });
  assert.equal(sent(family, request).fitted.request, request);
});
