// Strict schemas of clients of Messages at providers that are strict in another way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRequest } from '../../../../../media/model/dialects/messages/request.ts';
import type { MessagesRequestBody } from '../../../../../media/model/dialects/messages/schema.ts';
import { requireFamily } from '../../../../../media/providers/generation/families.ts';
import { encodeFitted, upstreamTarget } from '../../../../harness/request.ts';

type Members = Record<string, unknown>;

const text = { type: 'string' };
const closed = { type: 'object', additionalProperties: false };
const full = { ...closed, properties: { a: text }, required: ['a'] };
const cases: [string, Members, boolean][] = [
  ['everything required', full, true],
  ['closed parts', { ...closed, properties: { a: full, b: { anyOf: [full, text] } } }, false],
  [
    'closed parts that are required',
    { ...closed, properties: { a: { type: 'array', items: full } }, required: ['a'] },
    true,
  ],
  ['a property that may be left out', { ...full, properties: { a: text, b: text } }, false],
  ['such a property within', { ...full, properties: { a: { ...full, required: [] } } }, false],
  ['an open object', { type: 'object', properties: { a: text }, required: ['a'] }, false],
  ['a rule that is not taken', { ...full, properties: { a: { ...text, default: 'x' } } }, false],
];

for (const [what, schema, strict] of cases) {
  test(`with ${what} it is ${strict ? '' : 'not '}called strict`, () => {
    const body = {
      model: 'alias',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      output_config: { format: { type: 'json_schema', schema } },
      tools: [{ name: 'f', input_schema: schema, strict: true }],
    } as MessagesRequestBody;
    const request = readRequest(body, {});
    const options = { outputTokensMax: 4_000, nativeSearch: false };
    const bodyFor = (name: string) =>
      JSON.parse(
        JSON.stringify(
          encodeFitted(requireFamily(name), request, upstreamTarget(name), options).body,
        ),
      );
    const chat = bodyFor('openai-chat');
    assert.equal(chat.response_format.json_schema.strict, strict);
    assert.equal(chat.tools[0].function.strict, strict);
    const responses = bodyFor('openai-responses');
    assert.equal(responses.text.format.strict, strict);
    assert.equal(responses.tools[0].strict, strict);
    const messages = bodyFor('anthropic-messages');
    assert.equal(messages.tools[0].strict, true);
  });
}
