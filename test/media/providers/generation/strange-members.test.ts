// Members of the strangest kind. A reader that throws at one takes the provider's reason with it,
// and the answer ends as a lost connection; a request that is not written ends its generation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { chatDialect } from '../../../../media/model/dialects/chat/dialect.ts';
import { chatRequestSchema } from '../../../../media/model/dialects/chat/schema.ts';
import { familyNames, requireFamily } from '../../../../media/providers/generation/families.ts';
import { fixtures as messages } from './anthropic-messages/fixtures.ts';
import { fixtures as gemini } from './gemini/fixtures.ts';
import { fixtures as chat } from './openai-chat/fixtures.ts';
import { fixtures as responses } from './openai-responses/fixtures.ts';

const bodies: Record<string, readonly string[]> = {
  gemini: gemini.map(({ body }) => body),
  'openai-chat': chat.map(({ body }) => body),
  'openai-responses': responses.map(({ body }) => body),
  'anthropic-messages': messages.map(({ body }) => body),
};
/** No value of JSON is harder to make a text of. */
const strange = '{"toString":1}';
/** The value of a member, where it is no list or object. */
const plainMember = /("[A-Za-z_]+": ?)(?:"(?:[^"\\]|\\.)*"|-?\d[\d.]*|null|true|false)/g;

function* strangeBodies(body: string): Generator<string> {
  // What repeats a stream many times over has no other members.
  if (body.length > 8_000) return;
  for (const match of body.matchAll(plainMember)) {
    const [whole, name = ''] = match;
    yield body.slice(0, match.index) + name + strange + body.slice(match.index + whole.length);
  }
}

for (const name of familyNames) {
  test(`a stream of ${name} with a strange member is read, or a failure`, () => {
    let count = 0;
    for (const body of (bodies[name] ?? []).flatMap((each) => [...strangeBodies(each)])) {
      const reader = requireFamily(name).createReader();
      assert.doesNotThrow(() => [...reader.push(Buffer.from(body)), ...reader.end()], body);
      count += 1;
    }
    assert.ok(count > 100, `${count} streams`);
  });
}

test('an error in a stream says what of it can be said', () => {
  const reader = requireFamily('openai-chat').createReader();
  const error = { message: 'no such model', code: { toString: 1 } };
  const [event] = reader.push(Buffer.from(`data: ${JSON.stringify({ error })}\n\n`));
  assert.ok(event?.type === 'failure');
  assert.match(event.failure.detail, /no such model/);
});

const content = [{ type: 'input_audio', input_audio: { data: 'AAAA', format: { toString: 1 } } }];
const properties = { a: { $ref: { toString: 1 } } };
const parameters = { type: 'object', properties, required: ['a'], additionalProperties: false };
const requests = [
  { model: 'alias', messages: [{ role: 'user', content }] },
  {
    model: 'alias',
    messages: [{ role: 'user', content: 'Hello' }],
    tools: [{ type: 'function', function: { name: 'f', strict: true, parameters } }],
  },
];

for (const name of familyNames) {
  test(`a request with a strange member is written for ${name}`, () => {
    const family = requireFamily(name);
    const target = { routeId: 'r', family: name, baseUrl: 'http://x', apiKey: null };
    for (const body of requests) {
      const request = chatDialect.readRequest(v.parse(chatRequestSchema, body), {});
      const options = { outputTokensMax: 64, nativeSearch: false };
      const call = family.encodeRequest(request, { ...target, upstreamModel: 'm' }, options);
      assert.ok(Object.keys(call.body).length > 0);
    }
  });
}
