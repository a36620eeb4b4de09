// The provider's summary of a conversation stands first in the messages that go on from it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationRequest, Message } from '../../../../../media/model/request.ts';
import { anthropicMessages } from '../../../../../media/providers/generation/anthropic-messages/family.ts';
import { neutralRequest, upstreamTarget, userMessage } from '../../../../harness/request.ts';

const target = upstreamTarget('anthropic-messages');
const compaction = { type: 'compaction', content: 'So far: nothing.', signature: 's' };

function sent(change: Partial<GenerationRequest>): unknown {
  const options = { outputTokensMax: 4_000, nativeSearch: false };
  const call = anthropicMessages.encodeRequest(neutralRequest(change), target, options);
  return JSON.parse(JSON.stringify((call.body as Record<string, unknown>).messages));
}

test('nothing is put in front of it, whether it is forwarded or written anew', () => {
  const messages = [
    { role: 'assistant', content: [compaction] },
    { role: 'user', content: [{ type: 'text', text: 'go on' }] },
  ];
  const body = { model: 'alias', max_tokens: 9, messages };
  const source = { format: 'messages' as const, body, headers: {}, rewritten: false };
  assert.deepEqual(sent({ source }), messages);
  const summary: Message = {
    role: 'assistant',
    parts: [{ type: 'native', format: 'messages', value: compaction }],
    toolCalls: [],
    toolCallId: null,
  };
  const neutral = [summary, userMessage('go on')];
  assert.deepEqual(sent({ messages: neutral, source: { ...source, rewritten: true } }), messages);
});
