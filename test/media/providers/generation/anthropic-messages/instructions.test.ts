// Instructions between the turns: coding agents send them, and what stands before them is cached.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRequest } from '../../../../../media/model/dialects/messages/request.ts';
import type { MessagesRequestBody } from '../../../../../media/model/dialects/messages/schema.ts';
import type { GenerationRequest } from '../../../../../media/model/request.ts';
import { anthropicMessages } from '../../../../../media/providers/generation/anthropic-messages/family.ts';
import { neutralRequest, upstreamTarget } from '../../../../harness/request.ts';

const target = upstreamTarget('anthropic-messages');
const text = (words: string) => ({ type: 'text', text: words });
const said = (role: string, ...content: object[]) => ({ role, content });

/** The request as a route that shortens contexts sends it. */
function rewritten(messages: object[], system: string): GenerationRequest {
  const body = { model: 'alias', max_tokens: 9, system, messages } as MessagesRequestBody;
  const request = readRequest(body, {});
  return { ...request, source: { ...request.source, rewritten: true } };
}

function sent(request: GenerationRequest): Record<string, unknown> {
  const options = { outputTokensMax: 4_000, nativeSearch: false };
  const { body } = anthropicMessages.encodeRequest(request, target, options);
  return JSON.parse(JSON.stringify(body)) as Record<string, unknown>;
}

test('they stay where a client of the format has put them when messages are written anew', () => {
  const change = { type: 'tool_addition', tool: { type: 'tool_reference', name: 'f' } };
  const used = { type: 'tool_use', id: 't', name: 'f', input: {} };
  const answered = { type: 'tool_result', tool_use_id: 't', content: [text('done')] };
  const messages = [
    said('user', text('one')),
    said('system', text('agents: a, b'), change),
    said('assistant', used),
    said('user', answered),
    said('system', text('hurry')),
  ];
  const body = sent(rewritten(messages, 'be kind'));
  assert.deepEqual(body.system, [text('be kind')]);
  assert.deepEqual(body.messages, messages);
  // Those in front of everything have another place.
  const first = sent(rewritten([said('system', text('first')), ...messages], 'be kind'));
  assert.deepEqual(first.system, [text('be kind'), text('first')]);
  assert.deepEqual(first.messages, messages);
});

test('those of other formats stand together, which every model takes', () => {
  const { messages } = rewritten([said('user', text('one')), said('system', text('two'))], 'zero');
  const body = sent(neutralRequest({ messages }));
  assert.deepEqual(body.system, [text('zero'), text('two')]);
  assert.deepEqual(body.messages, [said('user', text('one'))]);
});
