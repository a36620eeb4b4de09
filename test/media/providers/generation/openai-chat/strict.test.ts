// What leaves for servers that refuse members which they do not know, and for Mistral's models,
// which insist on an order of roles.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireFamily } from '../../../../../media/providers/generation/families.ts';
import { droppedMembers } from '../../../../../media/providers/generation/members.ts';
import { upstreamTarget } from '../../../../harness/request.ts';
import { asked, called, calledInChat, hi, type Members, sent } from '../fitting/asked.ts';

const family = 'openai-chat';
const mistral = { baseUrl: 'https://api.mistral.ai/v1', upstreamModel: 'mistral-medium-3-5' };
const elsewhere = { upstreamModel: 'mistralai/Devstral-Small-2507' };
const strict = { quirks: { strictMembers: true } };
const id = 'a1B2c3D4e';

function messagesOf(body: Members): Members[] {
  return body.messages as Members[];
}

const odd = {
  user: 'u',
  seed: 7,
  temperature: 0.5,
  logprobs: true,
  top_logprobs: 2,
  logit_bias: { 1: 1 },
  max_completion_tokens: 50,
  stream: true,
  stream_options: { include_usage: true },
  store: true,
};

test('Mistral is told what it knows, and the client what was left out', () => {
  const request = asked('chat', { messages: hi, ...odd });
  assert.deepEqual(sent(family, request, mistral).body, {
    model: mistral.upstreamModel,
    messages: hi,
    temperature: 0.5,
    random_seed: 7,
    max_tokens: 100,
    stream: true,
  });
  const to = { ...upstreamTarget(family), ...mistral };
  assert.deepEqual([...droppedMembers(request, requireFamily(family), to)].sort(), [
    'logit_bias',
    'logprobs',
    'store',
    'top_logprobs',
    'user',
  ]);
});

test('another strict server is told likewise, where an operator says so of it', () => {
  const { body } = sent(family, asked('chat', { messages: hi, ...odd }), strict);
  assert.deepEqual(Object.keys(body).sort(), [
    'max_tokens',
    'messages',
    'model',
    'seed',
    'stream',
    'stream_options',
    'temperature',
  ]);
  const declared = { ...mistral, quirks: { strictMembers: false } };
  assert.ok('user' in sent(family, asked('chat', { messages: hi, ...odd }), declared).body);
});

test('an administrator lets a member pass to a strict server', () => {
  const request = asked('chat', { messages: hi, safe_prompt: true, guardrails: [] });
  const { body } = sent(family, request, { ...mistral, forwardMembers: ['safe_prompt'] });
  assert.equal(body.safe_prompt, true);
  assert.ok(!('guardrails' in body));
});

test('a client of another format asks a strict server for nothing that it does not know', () => {
  const include = ['message.output_text.logprobs'];
  const request = asked('responses', { input: 'hi', include, top_logprobs: 2, user: 'u' });
  const { body } = sent(family, request, mistral);
  const names = ['max_tokens', 'messages', 'model', 'stream'];
  assert.deepEqual(Object.keys(body).sort(), names);
});

test('members of messages that a strict server does not know are left out', () => {
  const [first = {}, second = {}, third = {}] = calledInChat('f', id);
  const messages = [
    { ...first, name: 'me' },
    { ...second, refusal: null, annotations: [], reasoning_content: 'hm', svc: 1 },
    { ...third, metadata: { a: 1 } },
  ];
  const [user, turn, result] = messagesOf(sent(family, asked('chat', { messages }), strict).body);
  assert.deepEqual(user, first);
  assert.deepEqual(turn, second);
  assert.deepEqual(result, third);
});

test('thoughts that a client of Chat brings back are a part of the content at Mistral', () => {
  const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] };
  const turns = (content: unknown) => [
    ...hi,
    { role: 'assistant', content, reasoning_content: 'hm' },
    ...hi,
  ];
  const at = (content: unknown, target: Members) =>
    messagesOf(sent(family, asked('chat', { messages: turns(content) }), target).body)[1];
  const words = { type: 'text', text: 'a' };
  assert.deepEqual(at('a', mistral), { role: 'assistant', content: [thought, words] });
  assert.deepEqual(at([words], mistral), { role: 'assistant', content: [words] });
  assert.deepEqual(at('a', elsewhere), turns('a')[1], 'other servers are told as it was said');
});

test('behind results Mistral wants the words of the model, and then those of the user', () => {
  const results = (more: readonly Members[]) => {
    const [question, call, answer] = called('f', id);
    const content = [...((answer as Members).content as Members[]), ...more];
    return [question, call, { ...answer, content }];
  };
  const reminder = { type: 'text', text: 'a reminder' };
  const picture = {
    type: 'tool_result',
    tool_use_id: id,
    content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/b.png' } }],
  };
  const rolesOf = (messages: unknown, target: Members = mistral) =>
    messagesOf(sent(family, asked('messages', { messages } as Members), target).body).map(
      ({ role }) => role,
    );
  const bridged = ['user', 'assistant', 'tool', 'assistant', 'user'];
  for (const target of [mistral, elsewhere]) {
    assert.deepEqual(rolesOf(results([reminder]), target), bridged);
    assert.deepEqual(
      rolesOf([...results([]).slice(0, 2), { role: 'user', content: [picture] }], target),
      bridged,
    );
    assert.deepEqual(rolesOf(results([]), target), bridged.slice(0, 3));
  }
  assert.deepEqual(rolesOf(results([reminder]), {}), ['user', 'assistant', 'tool', 'user']);
  const own = [...calledInChat('f', id), ...hi];
  const { body } = sent(family, asked('chat', { messages: own }), mistral);
  assert.deepEqual(
    messagesOf(body).map(({ role }) => role),
    bridged,
  );
});

test('instructions behind the first turn are words of the user at Mistral', () => {
  const messages = [
    { role: 'system', content: 'a' },
    ...calledInChat('f', id),
    { role: 'system', content: 'b' },
  ];
  const { body } = sent(family, asked('chat', { messages }), mistral);
  assert.deepEqual(
    messagesOf(body).map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool', 'assistant', 'user'],
  );
});

test('the beginning of an answer is named as such to Mistral', () => {
  const messages = [...hi, { role: 'assistant', content: 'The answer is' }];
  const [, last] = messagesOf(sent(family, asked('messages', { messages }), mistral).body);
  assert.deepEqual(last, { role: 'assistant', content: 'The answer is', prefix: true });
  const [, other] = messagesOf(sent(family, asked('messages', { messages }), elsewhere).body);
  assert.equal(other?.prefix, undefined);
});

test('a turn without words or calls is told in words: servers refuse none', () => {
  const messages = [...hi, { role: 'assistant', content: [] }, ...hi];
  const [, turn] = messagesOf(sent(family, asked('messages', { messages })).body);
  assert.deepEqual(turn, { role: 'assistant', content: '(An empty message.)' });
});
