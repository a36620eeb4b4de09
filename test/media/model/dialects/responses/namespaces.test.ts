// Functions in namespaces, as agents declare them: whole for upstreams of this format, under flat
// names for all others, and called back by the client's own names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  flatName,
  namespacesOf,
  namespaceTools,
} from '../../../../../media/model/dialects/responses/namespaces.ts';
import { readRequest } from '../../../../../media/model/dialects/responses/request.ts';
import { openaiChat } from '../../../../../media/providers/generation/openai-chat/family.ts';
import { openaiResponses } from '../../../../../media/providers/generation/openai-responses/family.ts';

const parameters = { type: 'object', properties: { target: { type: 'string' } } };
const agents = {
  type: 'namespace',
  name: 'agents',
  tools: [
    { type: 'function', name: 'spawn', description: 'd', parameters, strict: false },
    { type: 'function', name: 'close' },
  ],
};
const call = {
  type: 'function_call',
  call_id: 'c1',
  namespace: 'agents',
  name: 'spawn',
  arguments: '{}',
};
const input = [
  { role: 'user', content: 'go' },
  call,
  { type: 'function_call_output', call_id: 'c1', output: 'done' },
];
const target = {
  routeId: 'r',
  family: 'any',
  baseUrl: 'http://x/v1',
  apiKey: null,
  upstreamModel: 'm',
};
const options = { outputTokensMax: 100, nativeSearch: false };

test('the functions of a namespace are plain ones under a name that says both', () => {
  const flat = namespaceTools(agents);
  assert.deepEqual(flat, [
    { name: 'agents__spawn', description: 'd', parameters, strict: false },
    { name: 'agents__close', description: null, parameters: null, strict: null },
  ]);
  const inside = namespacesOf([agents]).get('agents__spawn');
  assert.deepEqual(inside, { namespace: 'agents', name: 'spawn' });
});

test('a long name keeps to what providers take, and differs where the long ones do', () => {
  const [one, other] = ['a', 'b'].map((end) => flatName('n'.repeat(60), `${'x'.repeat(60)}${end}`));
  assert.ok(one !== undefined && one.length === 64 && one !== other);
});

test('a namespace with tools that the client does not run stays native', () => {
  assert.equal(namespaceTools({ ...agents, tools: [{ type: 'web_search', name: 'c' }] }), null);
  assert.equal(namespaceTools({ type: 'web_search' }), null);
});

test('another format is told flat names, this one the namespace, also when rewritten', () => {
  const request = readRequest({ model: 'm', input, tools: [agents] }, {});
  assert.equal(openaiChat.lacks(request), null);
  const chat = JSON.parse(JSON.stringify(openaiChat.encodeRequest(request, target, options).body));
  const names = chat.tools.map((tool: { function: { name: string } }) => tool.function.name);
  assert.deepEqual(names, ['agents__spawn', 'agents__close']);
  assert.equal(chat.messages[1].tool_calls[0].function.name, 'agents__spawn');
  const rewritten = { ...request, source: { ...request.source, rewritten: true } };
  for (const each of [request, rewritten]) {
    const own = JSON.parse(
      JSON.stringify(openaiResponses.encodeRequest(each, target, options).body),
    );
    assert.deepEqual(own.tools, [agents]);
    assert.deepEqual(own.input[1], call);
  }
});

test('of a list of allowed tools a namespace is offered as far as it is listed', () => {
  const plain = { type: 'function', name: 'spawn' };
  const offered = (...listed: Record<string, unknown>[]) => {
    const choice = { type: 'allowed_tools', mode: 'auto', tools: listed };
    const { tools } = readRequest(
      { model: 'm', input: 'go', tools: [agents, plain], tool_choice: choice },
      {},
    );
    return tools.map(({ name }) => name);
  };
  const inside = { type: 'function', namespace: 'agents', name: 'spawn' };
  assert.deepEqual(offered(inside), ['agents__spawn']);
  assert.deepEqual(offered({ ...agents, tools: [agents.tools[1]] }), ['agents__close']);
  assert.deepEqual(offered({ type: 'namespace', name: 'agents' }), [
    'agents__spawn',
    'agents__close',
  ]);
  assert.deepEqual(offered(plain), ['spawn'], 'the one outside');
  assert.deepEqual(offered(plain, { ...inside, name: 'close' }), ['agents__close', 'spawn']);
  assert.throws(() => offered({ ...inside, namespace: 'others' }), /is declared/);
});

test('a choice of a function in a namespace is one of its flat name', () => {
  const choice = { type: 'function', namespace: 'agents', name: 'spawn' };
  const request = readRequest({ model: 'm', input, tools: [agents], tool_choice: choice }, {});
  assert.deepEqual(request.toolChoice, { name: 'agents__spawn' });
});
