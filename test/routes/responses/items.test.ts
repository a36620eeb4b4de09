// Turns as the input of the next one: what a cut answer left open, and what clients wrote short.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Turn } from '../../../db/responses.ts';
import { type Answer, emptyAnswer } from '../../../media/model/answer.ts';
import { inputItems, listedItem, turnItems } from '../../../routes/responses/items.ts';
import { accountSeals } from '../../harness/request.ts';

const generationId = 'req_0123456789abcdef01234567';
const seals = accountSeals();

function turn(
  status: Turn['status'],
  items: Answer['items'],
  finishReason: Answer['finishReason'] = null,
): Turn {
  const answer = { ...emptyAnswer(), items, finishReason };
  return {
    generationId,
    background: false,
    status,
    uncharged: false,
    inputJson: '[{"type":"message","role":"user","content":"go"}]',
    answerJson: JSON.stringify(answer),
  };
}

const text: Answer['items'][number] = { type: 'text', text: 'hm', citations: [] };

function call(id: string, index: number): Answer['items'][number] {
  return { type: 'tool_call', index, id, name: 'look', arguments: '{' };
}

const typesOf = (items: Record<string, unknown>[]) => items.map(({ type }) => type);

test('a call that a cut answer left open is dropped unless it was answered', () => {
  const turns = [turn('incomplete', [text, call('a', 0), call('b', 1)])];
  const output = { type: 'function_call_output', call_id: 'b', output: '' };
  const items = turnItems(turns, [output], seals);
  assert.deepEqual(typesOf(items), ['message', 'message', 'function_call']);
  assert.equal(items[2]?.call_id, 'b');
  const later = turnItems(
    [...turns, { ...turns[0], inputJson: JSON.stringify([output]) } as Turn],
    [],
    seals,
  );
  assert.equal(later.filter(({ call_id }) => call_id === 'b').length, 3);
  assert.equal(later.filter(({ call_id }) => call_id === 'a').length, 0);
});

test('so is one of the provider’s own kinds, and one of an answer that a filter has cut', () => {
  const value = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'patch', input: 'x' };
  const custom: Answer['items'][number] = { type: 'native', format: 'responses', value };
  const cut = turn('incomplete', [text, custom]);
  const output = { type: 'custom_tool_call_output', call_id: 'c', output: '' };
  assert.deepEqual(typesOf(turnItems([cut], [], seals)), ['message', 'message']);
  assert.equal(turnItems([cut], [output], seals).at(-1)?.type, 'custom_tool_call');
  const filtered = turn('completed', [text, call('a', 0)], 'content_filter');
  assert.deepEqual(typesOf(turnItems([filtered], [], seals)), ['message', 'message']);
});

test('the calls of a complete answer stay: the provider says what is missing', () => {
  const items = turnItems([turn('completed', [call('a', 0)])], [], seals);
  assert.deepEqual(typesOf(items), ['message', 'function_call']);
});

test('an input is stored as a list, and listed with ids that lead to its place', () => {
  assert.deepEqual(inputItems({ input: 'hello' }), [
    { type: 'message', role: 'user', content: 'hello' },
  ]);
  assert.deepEqual(inputItems({ messages: [{ role: 'user', content: 'a' }] }), [
    { role: 'user', content: 'a' },
  ]);
  const listed = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { type: 'function_call_output', call_id: 'c', output: 'd' },
    { type: 'message', id: 'mine', role: 'user', content: [] },
  ].map((item, index) => listedItem(generationId, item, index));
  assert.deepEqual(listed, [
    {
      type: 'message',
      id: 'msg_0123456789abcdef0123456710000',
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_text', text: 'a' }],
    },
    {
      type: 'message',
      id: 'msg_0123456789abcdef0123456710001',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', annotations: [], text: 'b' }],
    },
    {
      type: 'function_call_output',
      id: 'fco_0123456789abcdef0123456710002',
      call_id: 'c',
      output: 'd',
    },
    { type: 'message', id: 'mine', status: 'completed', role: 'user', content: [] },
  ]);
});
