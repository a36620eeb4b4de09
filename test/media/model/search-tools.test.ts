// `web_search: false` in every format: no provider is offered a search, whoever declared it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatDialect } from '../../../media/model/dialects/chat/dialect.ts';
import { legacyDialect } from '../../../media/model/dialects/legacy/dialect.ts';
import { messagesDialect } from '../../../media/model/dialects/messages/dialect.ts';
import { responsesDialect } from '../../../media/model/dialects/responses/dialect.ts';
import type { GenerationRequest } from '../../../media/model/request.ts';
import { requireFamily } from '../../../media/providers/generation/families.ts';
import { Problem } from '../../../runtime/problem.ts';

const messages = [{ role: 'user' as const, content: 'hi' }];
const model = 'alias';
const weather = { type: 'function', name: 'weather', parameters: {} };

const chat = (body: object) => chatDialect.readRequest({ model, messages, ...body }, {});
const legacy = (body: object) => legacyDialect.readRequest({ model, messages, ...body }, {});
const responses = (body: object) => responsesDialect.readRequest({ model, messages, ...body }, {});
const anthropic = (body: object) =>
  messagesDialect.readRequest({ model, max_tokens: 9, messages, ...body }, {});

function sent(request: GenerationRequest, family: string): Record<string, unknown> {
  const target = {
    routeId: 'r',
    family,
    baseUrl: 'http://localhost:1/v1',
    apiKey: null,
    upstreamModel: 'm',
  };
  const options = { outputTokensMax: 9, nativeSearch: false };
  return JSON.parse(
    JSON.stringify(requireFamily(family).encodeRequest(request, target, options).body),
  );
}

const search = { type: 'web_search' };
const preview = { type: 'web_search_preview_2025_03_11' };
const dated = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 };

test('a forbidden search is offered to no provider', () => {
  const members = { web_search: false, tools: [search, weather, preview] };
  for (const read of [responses, legacy]) {
    const request = read(members);
    assert.deepEqual(request.nativeTools, []);
    const { tools } = sent(request, 'openai-responses');
    assert.deepEqual(
      (tools as { name: string }[]).map(({ name }) => name),
      ['weather'],
    );
  }
  const custom = { name: 'weather', input_schema: { type: 'object' } };
  const own = anthropic({ web_search: false, tools: [dated, custom] });
  assert.deepEqual(sent(own, 'anthropic-messages').tools, [custom]);
  const options = { web_search_options: { search_context_size: 'low' } };
  const told = sent(chat({ web_search: false, ...options }), 'openai-chat');
  assert.equal('web_search_options' in told, false);
});

test('the last tool goes with its choice', () => {
  const own = anthropic({ web_search: false, tools: [dated], tool_choice: { type: 'auto' } });
  const body = sent(own, 'anthropic-messages');
  assert.deepEqual([body.tools, body.tool_choice], [undefined, undefined]);
});

test('a search that is not forbidden stays as it was declared', () => {
  for (const members of [{}, { web_search: true }, { web_search: null }]) {
    const tools = [search, weather];
    assert.deepEqual(sent(responses({ ...members, tools }), 'openai-responses').tools, tools);
    const options = { search_context_size: 'low' };
    const told = sent(chat({ ...members, web_search_options: options }), 'openai-chat');
    assert.deepEqual(told.web_search_options, options);
  }
});

test('a search that is forbidden and chosen is refused by the choice', () => {
  const refused: [(body: object) => unknown, object][] = [
    [responses, { tools: [search], tool_choice: { type: 'web_search' } }],
    [responses, { tools: [search], tool_choice: 'required' }],
    [legacy, { tools: [search], tool_choice: 'required' }],
    [
      responses,
      { tools: [search, weather], tool_choice: { type: 'allowed_tools', tools: [search] } },
    ],
    [anthropic, { tools: [dated], tool_choice: { type: 'tool', name: 'web_search' } }],
    [anthropic, { tools: [dated], tool_choice: { type: 'any' } }],
  ];
  for (const [read, members] of refused) {
    assert.throws(
      () => read({ web_search: false, ...members }),
      (error) => error instanceof Problem && error.param === 'tool_choice',
      JSON.stringify(members),
    );
    read(members);
  }
  const other = { tools: [search, weather], tool_choice: 'required' };
  assert.equal(responses({ web_search: false, ...other }).toolChoice, 'required');
});
