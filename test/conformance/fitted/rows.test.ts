// Every row of what is fitted, in one request of each client that people use, on every pair of its
// format and a family. The server refuses what servers of the family are known to refuse.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { anthropic } from '../anthropic-client.ts';
import { openAi } from '../client.ts';
import { simulatedPrices } from '../pairs/play.ts';
import {
  type Family,
  type Members,
  type StrictServer,
  startStrictServer,
  upstreamModels,
} from './strict.ts';

const loaded = await Promise.all([
  import('ai'),
  import('@ai-sdk/openai'),
  import('@ai-sdk/anthropic'),
]).catch(() => null);
const options = loaded === null ? { skip: `ai does not load on ${process.version}` } : {};

// It would print what it thinks of the schemas.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

type Format = 'chat' | 'responses' | 'messages';
const families = Object.keys(upstreamModels) as Family[];
const familyNames: Readonly<Record<Family, string>> = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
  gemini: 'gemini',
};

let strict: StrictServer;
let bed: Testbed;
let account: TestAccount;
before(async () => {
  strict = await startStrictServer();
  bed = await openTestbed({
    catalog: {
      providers: families.map((family) => ({
        name: family,
        family: familyNames[family],
        base_url: strict.url,
        simulated: true,
        quirks: { system_messages: 'first', output_ceiling: 'max_completion_tokens' },
      })),
      models: families.map((family) => ({
        alias: `strict-${family}`,
        routes: [{ provider: family, upstream_model: upstreamModels[family] }],
        price: simulatedPrices,
        capabilities: ['chat', 'tools', 'vision', 'reasoning'],
      })),
    },
  });
  account = await bed.account();
});
after(async () => {
  await bed?.close();
  strict?.close();
});

const stem = 'a_tool_with_a_name_that_says_all_of_what_it_does_and_of_where_it_i';
const pattern = '^(?!__.*__$)[^\\p{Cc}\\p{Cf}"]{1,200}$';
const text = { type: 'string' };
/** Deeper than some take, with references, combinations, older drafts, and many properties. */
const oddSchema: Members & { type: 'object' } = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    field: { ...text, pattern },
    list: { type: 'array' },
    kind: { const: 'a' },
    part: { $ref: '#/$defs/part' },
    both: { allOf: [{ type: 'integer', exclusiveMinimum: 0 }, { description: 'd' }] },
    'a name with spaces': text,
    deep: Array.from({ length: 12 }).reduce<Members>(
      (inner) => ({ type: 'object', properties: { inner } }),
      text,
    ),
    ...Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`member_${index}`, text])),
  },
  $defs: { part: { type: 'object', properties: { inner: { $ref: '#/$defs/part' } } } },
  oneOf: [{ required: ['field'] }, { required: ['list'] }],
  allOf: [{ properties: { more: text } }],
};
const plainSchema = { type: 'object' as const, properties: { field: text } };

/** A client of a server's own format is taken at its word: it says what such servers take. */
function saidAt(format: Format, family: Family) {
  const isOwn = format === family;
  return {
    names: isOwn ? ['first', 'second'] : [`${stem}s_on`, `${stem}s_it`],
    schema: isOwn ? plainSchema : oddSchema,
    callId: isOwn ? 'call_1' : `call_${'x'.repeat(65)}`,
  };
}

const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUB';
const jpegUrl = `data:image/jpeg;base64,${data}`;
const between = 'Be brief.';
const sampling = { temperature: 0.3, top_p: 0.9 };

/** What a model does not let itself be told of `temperature` and `top_p`. */
const undrawn: Readonly<Record<Family, readonly string[]>> = {
  chat: ['temperature', 'top_p'],
  responses: ['temperature', 'top_p'],
  messages: ['temperature', 'top_p'],
  gemini: [],
};

function assertDropped(family: Family, dropped: string | null | undefined): void {
  const names = dropped?.split(', ') ?? [];
  for (const name of undrawn[family]) assert.ok(names.includes(name), `${name}: ${dropped}`);
}

/** A refusal says what was wrong: the client is not told the provider's words. */
async function taken<T>(asked: Promise<T>): Promise<T> {
  return await asked.catch((error: unknown) => {
    throw new Error(JSON.stringify(strict.lastBody.faults ?? String(error)));
  });
}

test('the server refuses each row that is not fitted', async () => {
  const direct = { baseUrl: strict.url.replace(/\/v1$/, ''), apiKey: 'none' };
  const parameters = oddSchema;
  const call = { id: `call_${'x'.repeat(65)}`, type: 'function' as const };
  const asked = openAi(direct).chat.completions.create({
    model: upstreamModels.chat,
    ...sampling,
    max_tokens: 100,
    tools: [{ type: 'function', function: { name: `${stem}s_on`, parameters } }],
    messages: [
      { role: 'developer', content: 'You help.' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: jpegUrl } }] },
      { role: 'assistant', tool_calls: [{ ...call, function: { name: 'f', arguments: '{}' } }] },
      { role: 'system', content: between },
    ],
  });
  await assert.rejects(asked);
  assert.deepEqual(strict.lastBody.faults, [
    'a role',
    'a system message between',
    'the id of a call',
    'a result without its call',
    'the name of a tool',
    'allOf',
    'oneOf',
    'a pattern',
    'a list of nothing',
    'max_tokens',
    'temperature',
    'top_p',
    'the ceiling is missing',
    'no picture',
    'the type of a picture',
  ]);
});

for (const family of families) {
  const model = `strict-${family}`;

  test(`openai, Chat at ${family}`, async () => {
    const { names, schema, callId } = saidAt('chat', family);
    const [name = ''] = names;
    const asked = openAi(account).chat.completions.create({
      model,
      ...sampling,
      max_tokens: 100,
      tools: names.map((each) => ({
        type: 'function',
        function: { name: each, parameters: schema },
      })),
      messages: [
        { role: 'developer', content: 'You help.' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: jpegUrl } }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: callId, type: 'function', function: { name, arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: callId, content: 'ok' },
        { role: 'system', content: between },
        { role: 'user', content: 'go on' },
      ],
    });
    const { data: answer, response } = await taken(asked.withResponse());
    assert.equal(answer.choices[0]?.message.content, 'done');
    assertDropped(family, response.headers.get('x-svc-dropped-members'));
  });

  test(`openai, Responses at ${family}`, async () => {
    const { names, schema, callId } = saidAt('responses', family);
    const [name = ''] = names;
    const asked = openAi(account).responses.create({
      model,
      ...sampling,
      max_output_tokens: 100,
      instructions: 'You help.',
      tools: names.map((each) => ({
        type: 'function',
        name: each,
        parameters: schema,
        strict: false,
      })),
      input: [
        {
          role: 'user',
          content: [{ type: 'input_image', image_url: jpegUrl, detail: 'auto' }],
        },
        { type: 'function_call', call_id: callId, name, arguments: '{}' },
        { type: 'function_call_output', call_id: callId, output: 'ok' },
        { role: 'developer', content: between },
        { role: 'user', content: 'go on' },
      ],
    });
    const { data: answer, response } = await taken(asked.withResponse());
    assert.equal(answer.output_text, 'done');
    assertDropped(family, response.headers.get('x-svc-dropped-members'));
  });

  test(`@anthropic-ai/sdk at ${family}`, async () => {
    const { names, schema, callId } = saidAt('messages', family);
    const [name = ''] = names;
    const source = { type: 'base64' as const, media_type: 'image/jpeg' as const, data };
    const asked = anthropic(account).messages.create({
      model,
      ...sampling,
      max_tokens: 100,
      system: 'You help.',
      tools: names.map((each) => ({ name: each, input_schema: schema })),
      messages: [
        { role: 'user', content: [{ type: 'image', source }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: callId, name, input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: callId, content: 'ok' }],
        },
        { role: 'system', content: between },
        { role: 'user', content: 'go on' },
      ],
    });
    const { data: answer, response } = await taken(asked.withResponse());
    const [said] = answer.content;
    assert.equal(said?.type === 'text' && said.text, 'done');
    assertDropped(family, response.headers.get('x-svc-dropped-members'));
  });

  for (const format of ['chat', 'responses', 'messages'] as const) {
    test(`ai, ${format} at ${family}`, options, async () => {
      assert.ok(loaded);
      const [{ generateText, jsonSchema, tool }, openaiSdk, anthropicSdk] = loaded;
      const settings = { baseURL: `${bed.url}/v1`, apiKey: account.apiKey };
      const { names, schema, callId } = saidAt(format, family);
      const [toolName = ''] = names;
      const inputSchema = jsonSchema<Record<string, never>>(schema as object);
      const asked = generateText({
        model:
          format === 'messages'
            ? anthropicSdk.createAnthropic(settings)(model)
            : openaiSdk.createOpenAI(settings)[format](model),
        temperature: sampling.temperature,
        topP: sampling.top_p,
        maxOutputTokens: 100,
        maxRetries: 0,
        allowSystemInMessages: true,
        tools: Object.fromEntries(names.map((name) => [name, tool({ inputSchema })])),
        messages: [
          // Its own Messages client refuses instructions between turns.
          ...(format === 'messages' ? [{ role: 'system' as const, content: between }] : []),
          {
            role: 'user',
            content: [{ type: 'file', data, mediaType: 'image/jpeg' }],
          },
          {
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId: callId, toolName, input: {} }],
          },
          {
            role: 'tool',
            content: [
              {
                type: 'tool-result',
                toolCallId: callId,
                toolName,
                output: { type: 'text', value: 'ok' },
              },
            ],
          },
          ...(format === 'messages' ? [] : [{ role: 'system' as const, content: between }]),
          { role: 'user', content: 'go on' },
        ],
      });
      const answer = await taken(Promise.resolve(asked));
      assert.equal(answer.text, 'done');
      // This client takes one of the two out itself, and says so.
      const [first, ...others] = undrawn[family];
      if (first === undefined) return;
      const dropped = answer.response.headers?.['x-svc-dropped-members'];
      assert.match(String(dropped), new RegExp([first, ...others].join('|')));
    });
  }
}
