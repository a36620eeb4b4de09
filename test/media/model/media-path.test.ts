// The member of a body that refusals of what was said name: that which the client wrote.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationRequest } from '../../../media/model/request.ts';
import { gemini } from '../../../media/providers/generation/gemini/family.ts';
import { openaiChat } from '../../../media/providers/generation/openai-chat/family.ts';
import { neutralRequest, userMessage } from '../../harness/request.ts';

const file = { type: 'input_file', file_id: 'file_1' };
const native = { type: 'native' as const, format: 'responses' as const, value: file };
const messages = [{ ...userMessage(''), parts: [native] }];

function lacking(format: GenerationRequest['source']['format'], body: Record<string, unknown>) {
  const source = { format, body, headers: {}, rewritten: false };
  const request = neutralRequest({ messages, source });
  return [openaiChat, gemini].map((family) => family.lacks(request));
}

test('what a family has no form for is named by where the client has it', () => {
  assert.deepEqual(lacking('responses', { input: [] }), ['input', 'input']);
  assert.deepEqual(lacking('responses', { messages: [], input: null }), ['messages', 'messages']);
  assert.deepEqual(lacking('legacy', { input: [] }), ['input', 'input']);
  assert.deepEqual(lacking('legacy', { messages: [] }), ['messages', 'messages']);
  assert.deepEqual(lacking('chat', { messages: [], input: 'x' }), ['messages', 'messages']);
});
