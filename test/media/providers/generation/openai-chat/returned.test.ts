// What of a server's turn is kept for a client of another format. It is told once in front of what
// follows, and joined again where it came in pieces. Mere marks are not kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import type { Message } from '../../../../../media/model/request.ts';
import { ChatReader } from '../../../../../media/providers/generation/openai-chat/reader.ts';
import { giveBack } from '../../../../../media/providers/generation/openai-chat/returned.ts';

type Members = Record<string, unknown>;

function read(deltas: readonly Members[]): ModelEvent[] {
  const reader = new ChatReader('messages', 'here');
  const events = deltas.flatMap((delta) => {
    const data = JSON.stringify({ id: 'x', choices: [{ index: 0, delta }] });
    return reader.push(Buffer.from(`data: ${data}\n\n`));
  });
  const end = '{"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
  return [...events, ...reader.push(Buffer.from(`data: ${end}\n\ndata: [DONE]\n\n`))];
}

/** Members of each part that is told, and the types of all events. */
function told(deltas: readonly Members[]): { members: unknown[]; types: string[] } {
  const events = read(deltas);
  const members = events.flatMap((event) =>
    event.type === 'reasoning_end' ? [event.value.members] : [],
  );
  return { members, types: events.map(({ type }) => type) };
}

const call = { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] };

test('it is told in front of what follows it, and what comes late at the end', () => {
  const { members, types } = told([
    { reasoning_content: 'a' },
    { reasoning_content: 'b' },
    { content: 'so' },
    { content: ' on' },
    { reasoning_content: 'c' },
    call,
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 1 }] },
  ]);
  const late = { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 1 }] };
  assert.deepEqual(members, [{ reasoning_content: 'ab' }, { reasoning_content: 'c' }, late]);
  assert.deepEqual(types, [
    'start',
    'reasoning',
    'reasoning',
    'reasoning_end',
    'text',
    'text',
    'reasoning',
    'reasoning_end',
    'tool_call',
    'tool_arguments',
    'reasoning_end',
    'finish',
  ]);
});

test('an empty member counts in front of a call, once, and never else', () => {
  assert.deepEqual(told([{ reasoning_content: '' }, { content: 'so' }]).members, []);
  assert.deepEqual(told([{ reasoning_content: '' }, call, call]).members, [
    { reasoning_content: '' },
  ]);
  const thoughts = [{ reasoning_content: 'a' }, { content: 'so', reasoning_content: '' }, call];
  assert.deepEqual(told(thoughts).members, [{ reasoning_content: 'a' }]);
  assert.deepEqual(told([{ reasoning_content: null }, call]).members, []);
});

test('marks and what is shown are nothing that anybody wants back', () => {
  const { members } = told([
    { role: 'assistant', name: 'bot', provider: 'X', padding: 'zz', images: [{ a: 1 }], n: 3 },
    { content: 'so', annotations: [], token_ids: [1], empty: {} },
  ]);
  assert.deepEqual(members, []);
  const own = { thought_signature: 's', extra_content: { google: { a: 1 } }, blocks: [{ b: 2 }] };
  assert.deepEqual(told([own, { content: 'so' }]).members, [own]);
});

test('more than a client could send again is left out', () => {
  const { members } = told([{ reasoning_details: [{ data: 'x'.repeat(1_100_000) }] }, call]);
  assert.deepEqual(members, []);
});

test('without a server nothing is kept', () => {
  const reader = new ChatReader('messages');
  const data = JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: 'a' } }] });
  reader.push(Buffer.from(`data: ${data}\n\n`));
  const last = reader.push(Buffer.from('data: [DONE]\n\n'));
  assert.deepEqual(
    last.map(({ type }) => type),
    ['finish'],
  );
});

test('parts of one turn are one again; another server gets none of them', () => {
  const detail = { type: 'reasoning.text', index: 0 };
  const parts = [
    { reasoning: 'a', reasoning_details: [{ ...detail, text: 'a' }] },
    { reasoning: 'b', reasoning_details: [{ ...detail, text: 'b', signature: 's' }] },
  ];
  const message: Message = {
    role: 'assistant',
    parts: [],
    toolCalls: [],
    toolCallId: null,
    returned: parts.map((members) => ({ server: 'here', members })),
  };
  for (let again = 0; again < 2; again += 1) {
    const encoded = {};
    giveBack(message, 'here', encoded);
    const details = [{ ...detail, text: 'ab', signature: 's' }];
    assert.deepEqual(encoded, { reasoning: 'ab', reasoning_details: details });
  }
  const other = {};
  giveBack(message, 'there', other);
  assert.deepEqual(other, {});
});
