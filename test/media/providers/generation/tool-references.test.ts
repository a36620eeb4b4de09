// Tools that are found late. Agents declare them as deferred, search for them themselves, and send
// references as the result. What only Messages knows is words, or nothing, to other families.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messagesDialect } from '../../../../media/model/dialects/messages/dialect.ts';
import {
  type MessagesRequestBody,
  messagesRequestSchema,
} from '../../../../media/model/dialects/messages/schema.ts';
import { responsesDialect } from '../../../../media/model/dialects/responses/dialect.ts';
import type { GenerationRequest } from '../../../../media/model/request.ts';
import { requireFamily } from '../../../../media/providers/generation/families.ts';
import { validateBody } from '../../../../runtime/http/validate.ts';
import { encodeFitted, upstreamTarget } from '../../../harness/request.ts';

type Members = Record<string, unknown>;

const reference = { type: 'tool_reference', tool_name: 'WebFetch' };
const schema = { type: 'object', properties: {} };
const tools = [
  { name: 'ToolSearch', description: 'Finds tools.', input_schema: schema },
  { name: 'WebFetch', description: 'Fetches.', input_schema: schema, defer_loading: true },
  { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
];

function request(): GenerationRequest {
  const use = { type: 'tool_use', id: 't1', name: 'ToolSearch', input: { query: 'fetch' } };
  const result = { type: 'tool_result', tool_use_id: 't1', content: [reference] };
  const body = {
    model: 'alias',
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [use] },
      { role: 'user', content: [result, { type: 'text', text: 'Go on.' }] },
    ],
    tools,
  };
  const read = validateBody(messagesRequestSchema, body) as MessagesRequestBody;
  return messagesDialect.readRequest(read, {});
}

function sent(asked: GenerationRequest, family: string): Members {
  const options = { outputTokensMax: 100, nativeSearch: false };
  return encodeFitted(requireFamily(family), asked, upstreamTarget(family), options).body;
}

test('a reference in a result is words to other families', () => {
  for (const family of ['openai-chat', 'openai-responses', 'gemini']) {
    const body = JSON.stringify(sent(request(), family));
    assert.match(body, /The tool WebFetch was found/, family);
    assert.doesNotMatch(body, /tool_reference/);
  }
});

test('the own family gets it as it came, also when messages are written anew', () => {
  const asked = request();
  const rewritten = { ...asked, source: { ...asked.source, rewritten: true } };
  for (const one of [asked, rewritten]) {
    const { messages, tools: told } = sent(one, 'anthropic-messages');
    const [, , turn] = messages as { content: { content?: unknown }[] }[];
    assert.deepEqual(turn?.content[0]?.content, [reference]);
    assert.deepEqual(told, tools);
  }
});

test('deferred tools are declared elsewhere at once, and a search for them is left out', () => {
  const named = (body: Members) => JSON.stringify(body.tools).match(/"name":"\w+"/g);
  for (const family of ['openai-chat', 'openai-responses', 'gemini']) {
    assert.deepEqual(named(sent(request(), family)), ['"name":"ToolSearch"', '"name":"WebFetch"']);
    assert.doesNotMatch(JSON.stringify(sent(request(), family)), /defer_loading/);
  }
  const declared = { type: 'function', name: 'f', parameters: schema, defer_loading: true };
  const namespace = { type: 'namespace', name: 'n', description: 'N', tools: [declared] };
  const body = {
    model: 'alias',
    input: 'hi',
    tools: [declared, namespace, { type: 'tool_search' }],
  };
  const asked = responsesDialect.readRequest(body, {});
  for (const family of ['openai-chat', 'anthropic-messages', 'gemini']) {
    assert.deepEqual(named(sent(asked, family)), ['"name":"f"', '"name":"n__f"']);
  }
});
