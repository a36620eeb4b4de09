// The part of the client's own body that a provider has refused, by the path into what it was sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientPath } from '../../../../media/providers/generation/client-place.ts';
import type {
  CallOptions,
  UpstreamTarget,
} from '../../../../media/providers/generation/contract.ts';
import { requireFamily } from '../../../../media/providers/generation/families.ts';
import type { Place } from '../../../../media/transport/place.ts';
import { upstreamTarget } from '../../../harness/request.ts';
import { asked, longNames, type Members, pngBase64, tool } from './fitting/asked.ts';

type Format = 'chat' | 'messages' | 'responses';

/** What a request of this format at this family is told. */
function pathOf(
  format: Format,
  name: string,
  body: Members,
  place: Place,
  target: Partial<UpstreamTarget> = {},
): string | null {
  const family = requireFamily(name);
  const request = asked(format, body);
  const to = { ...upstreamTarget(name), ...target };
  const options: CallOptions = { outputTokensMax: 9, nativeSearch: false };
  const fitted = family.fit(request, to, options);
  assert.ok('request' in fitted);
  const { body: sent } = family.encodeRequest(fitted.request, to, options);
  return clientPath({ asked: request, fitted, family, body: sent }, place);
}

const schema = { type: 'object', properties: { a: { type: 'string' } } };
const hi = { role: 'user', content: 'hi' };
const inChat = { messages: [hi], tools: [tool('chat', 'f'), tool('chat', 'g', schema)] };
const inMessages = {
  messages: [hi],
  tools: longNames.map((name) => tool('messages', name, schema)),
};
const namespace = { type: 'namespace', name: 'files', tools: [tool('responses', 'read', schema)] };
const inResponses = { input: [hi], tools: [namespace, tool('responses', 'g', schema)] };
const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: pngBase64 },
};
const pictured = { messages: [hi, { role: 'user', content: [image] }] };

type Case = readonly [
  format: Format,
  family: string,
  body: Members,
  place: Place,
  path: string | null,
];

const cases: readonly Case[] = [
  // Its own format: what it said, as far as it said it.
  [
    'chat',
    'openai-chat',
    inChat,
    ['tools', 1, 'function', 'parameters', 'properties', 'a', 'pattern'],
    'tools[1].function.parameters.properties.a',
  ],
  ['chat', 'openai-chat', inChat, ['messages', 0, 'content'], 'messages[0].content'],
  [
    'chat',
    'openai-chat',
    { ...inChat, instructions: 'be kind' },
    ['messages', 1, 'content'],
    'messages[0].content',
  ],
  [
    'messages',
    'anthropic-messages',
    pictured,
    ['messages', 1, 'content', 0, 'image', 'source', 'base64'],
    'messages[1].content[0].source',
  ],
  [
    'messages',
    'anthropic-messages',
    inMessages,
    ['tools', 1, 'custom', 'input_schema', 'type'],
    'tools[1].input_schema.type',
  ],
  ['responses', 'openai-responses', inResponses, ['input', 0, 'content'], 'input[0].content'],
  ['chat', 'openai-chat', { ...inChat, temperature: 2 }, ['temperature'], 'temperature'],
  // Another format: tools by their names, through the names that they were told.
  [
    'messages',
    'openai-chat',
    inMessages,
    ['tools', 1, 'function', 'parameters'],
    'tools[1].input_schema',
  ],
  ['messages', 'openai-responses', inMessages, ['tools', 0, 'name'], 'tools[0].name'],
  [
    'messages',
    'gemini',
    inMessages,
    ['tools', 0, 'functionDeclarations', 1, 'parametersJsonSchema'],
    'tools[1].input_schema',
  ],
  [
    'chat',
    'gemini',
    inChat,
    ['tools', 0, 'function_declarations', 1, 'name'],
    'tools[1].function.name',
  ],
  [
    'responses',
    'openai-chat',
    inResponses,
    ['tools', 0, 'function', 'parameters'],
    'tools[0].tools[0].parameters',
  ],
  ['responses', 'openai-chat', inResponses, ['tools', 1, 'function', 'name'], 'tools[1].name'],
  [
    'responses',
    'openai-chat',
    { input: [hi, { type: 'additional_tools', role: 'developer', tools: [namespace] }] },
    ['tools', 0, 'function', 'parameters'],
    'input[1].tools[0].tools[0].parameters',
  ],
  ['messages', 'openai-chat', inMessages, ['tools', 9, 'function', 'name'], 'tools'],
  ['chat', 'anthropic-messages', { messages: [hi] }, ['tools', 0], null],
  [
    'chat',
    'anthropic-messages',
    { messages: [hi], functions: [{ name: 'f', parameters: schema }] },
    ['tools', 0, 'custom', 'input_schema'],
    'functions[0].parameters',
  ],
  // A conversation is written anew: only one picture is certain.
  ['messages', 'openai-chat', pictured, ['messages', 0, 'content'], 'messages'],
  [
    'messages',
    'openai-chat',
    pictured,
    ['messages', 1, 'content', 0, 'image_url'],
    'messages[1].content',
  ],
  ['responses', 'gemini', inResponses, ['contents', 0, 'parts', 0], 'input'],
  // Settings by the client's own names.
  ['messages', 'openai-responses', { messages: [hi] }, ['max_output_tokens'], 'max_tokens'],
  ['chat', 'gemini', { messages: [hi], stop: 'x' }, ['generationConfig', 'stopSequences'], 'stop'],
  [
    'messages',
    'gemini',
    { messages: [hi], temperature: 1 },
    ['generation_config', 'temperature'],
    'temperature',
  ],
  [
    'chat',
    'openai-responses',
    { messages: [hi], reasoning_effort: 'high' },
    ['reasoning', 'effort'],
    'reasoning_effort',
  ],
  ['messages', 'openai-chat', { messages: [hi], system: 'x' }, ['system'], 'system'],
  // What the client has not said is not told.
  ['chat', 'openai-chat', { messages: [hi] }, ['stream_options'], null],
  ['chat', 'gemini', { messages: [hi] }, ['generation_config', 'temperature'], null],
  ['chat', 'openai-chat', { messages: [hi] }, ['constructor'], null],
];

for (const [format, family, body, place, path] of cases) {
  test(`${format} at ${family}: ${place.join(' ')} is ${path ?? 'nothing'}`, () => {
    assert.equal(pathOf(format, family, body, place), path);
  });
}

test('a message whose role was changed is still the client’s own', () => {
  const messages = [{ role: 'developer', content: 'x' }, hi];
  const place = ['messages', 0, 'content'];
  assert.equal(pathOf('chat', 'openai-chat', { messages }, place), 'messages[0].content');
});

test('one that was moved is not', () => {
  const messages = [hi, { role: 'system', content: 'x' }];
  const quirks = { systemMessages: 'first' as const };
  const path = pathOf('chat', 'openai-chat', { messages }, ['messages', 0, 'content'], { quirks });
  assert.equal(path, 'messages');
});
