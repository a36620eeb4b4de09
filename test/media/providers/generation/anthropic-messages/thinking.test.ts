// How a client of another format makes a Messages model think: by a budget, by an effort, or not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRequest } from '../../../../../media/model/dialects/messages/request.ts';
import { type ContentPart, type Message, noSampling } from '../../../../../media/model/request.ts';
import { anthropicMessages } from '../../../../../media/providers/generation/anthropic-messages/family.ts';
import { encodeConversation } from '../../../../../media/providers/generation/anthropic-messages/translate.ts';
import { neutralRequest } from '../../../../harness/request.ts';

interface Sent {
  thinking?: { type: string; display?: string };
  output_config?: { effort?: string };
  temperature?: number;
}

function send(
  upstreamModel: string,
  effort: string | null,
  { reasons = true, forced = false, outputTokensMax = 4_000 } = {},
): Sent {
  const tool = { name: 'f', description: null, parameters: null, strict: null };
  const request = neutralRequest({
    reasoning: { effort, budgetTokens: null, summary: false },
    sampling: { ...noSampling, temperature: 0.5 },
    ...(forced && { tools: [tool], toolChoice: 'required' }),
  });
  const family = anthropicMessages.name;
  const target = { routeId: 'r', family, baseUrl: 'http://x/v1', apiKey: null, upstreamModel };
  const options = { outputTokensMax, nativeSearch: false, reasons };
  const { body } = anthropicMessages.encodeRequest(request, target, options);
  return JSON.parse(JSON.stringify(body)) as Sent;
}

const early = [
  'claude-sonnet-4-5',
  'claude-sonnet-4-5-20250929',
  'claude-opus-4-20250514',
  'claude-3-7-sonnet-20250219',
  'anthropic.claude-haiku-4-5-20251001-v1:0',
  'deepseek-reasoner',
];

for (const model of early) {
  test(`${model} is given a budget`, () => {
    const { thinking, output_config, temperature } = send(model, 'low');
    assert.deepEqual(thinking, { type: 'enabled', budget_tokens: 2_048 });
    assert.equal(output_config, undefined);
    assert.equal(temperature, undefined);
    assert.equal(send(model, 'none').temperature, 0.5);
  });
}

const late = [
  'claude-opus-4-7',
  'anthropic/claude-opus-4.8',
  'claude-opus-4-8-20260601',
  'claude-sonnet-5',
  'claude-fable-5-1',
];

for (const model of ['claude-sonnet-4-6', ...late]) {
  test(`${model} thinks by itself, told an effort`, () => {
    const { thinking, output_config, temperature } = send(model, 'minimal');
    assert.deepEqual(thinking, { type: 'adaptive', display: 'summarized' });
    assert.deepEqual(output_config, { effort: 'low' });
    assert.equal(temperature, undefined);
    const isLate = late.includes(model);
    assert.equal(send(model, 'xhigh').output_config?.effort, isLate ? 'xhigh' : 'high');
    const forced = send(model, 'high', { forced: true });
    assert.equal(forced.thinking, undefined);
    assert.equal(forced.output_config, undefined);
    assert.equal(send(model, 'high', { outputTokensMax: 1_000 }).thinking, undefined);
    // Newer models refuse it, whether they think or not.
    assert.equal(send(model, 'none').temperature, isLate ? undefined : 0.5);
  });
}

function forward(upstreamModel: string, body: Record<string, unknown>): Sent {
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const request = readRequest({ model: 'alias', max_tokens: 40_000, messages, ...body }, {});
  const family = anthropicMessages.name;
  const target = { routeId: 'r', family, baseUrl: 'http://x/v1', apiKey: null, upstreamModel };
  const options = { outputTokensMax: 40_000, nativeSearch: false };
  const { body: sent } = anthropicMessages.encodeRequest(request, target, options);
  return JSON.parse(JSON.stringify(sent)) as Sent;
}

test('the budget of a client of the same format is an effort where the model takes none', () => {
  const thinking = { type: 'enabled', budget_tokens: 4_000 };
  assert.deepEqual(forward('claude-sonnet-4-6', { thinking }).thinking, thinking);
  const late = forward('claude-opus-4-7', { thinking });
  assert.deepEqual(late.thinking, { type: 'adaptive', display: 'summarized' });
  assert.deepEqual(late.output_config, { effort: 'medium' });
  const own = { thinking: { ...thinking, display: 'omitted' }, output_config: { effort: 'max' } };
  const told = forward('claude-opus-4-7', own);
  assert.deepEqual(told.thinking, { type: 'adaptive', display: 'omitted' });
  assert.deepEqual(told.output_config, { effort: 'max' });
});

test('a model that is not known to reason is not made to think', () => {
  for (const model of ['claude-3-5-haiku-20241022', 'claude-opus-4-7']) {
    const { thinking, output_config } = send(model, 'high', { reasons: false });
    assert.equal(thinking, undefined);
    assert.equal(output_config, undefined);
  }
});

test('thinking that led to nothing ends no message: there the provider refuses it', () => {
  const thought = { type: 'thinking', thinking: 'hm', signature: 's' };
  const part: ContentPart = { type: 'native', format: 'messages', value: thought };
  const text = (words: string): ContentPart => ({ type: 'text', text: words });
  const said = (role: Message['role'], ...parts: ContentPart[]): Message => {
    return { role, parts, toolCalls: [], toolCallId: null };
  };
  const sent = (...messages: Message[]) => encodeConversation(messages).messages;
  assert.deepEqual(
    sent(said('user', text('a')), said('assistant', part), said('user', text('b'))),
    [{ role: 'user', content: [text('a'), text('b')] }],
  );
  assert.deepEqual(sent(said('user', text('a')), said('assistant', part, text('c'), part, part)), [
    { role: 'user', content: [text('a')] },
    { role: 'assistant', content: [thought, text('c')] },
  ]);
  // It belongs to what the model said next.
  assert.deepEqual(
    sent(said('user', text('a')), said('assistant', part), said('assistant', text('c'))),
    [
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [thought, text('c')] },
    ],
  );
});
