// Turns of a conversation: results behind their calls, wherever they stood.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../../../media/model/request.ts';
import { turnsOf } from '../../../../media/providers/generation/turns.ts';

function said(role: Message['role'], text: string, calls: readonly string[] = []): Message {
  const toolCalls = calls.map((id) => ({ id, name: 'f', arguments: '{}' }));
  const parts: Message['parts'] = text === '' ? [] : [{ type: 'text', text }];
  return { role, parts, toolCalls, toolCallId: null };
}

function result(id: string, text: string): Message {
  return { ...said('tool', text), toolCallId: id };
}

/** Each turn as its words, its calls and the words of its results. */
function turns(...messages: Message[]): unknown[] {
  const words = ({ parts }: Message) =>
    parts.map((part) => (part.type === 'text' ? part.text : part.type)).join('+');
  return turnsOf(messages).map(({ message, results }) => [
    `${message.role} ${words(message)}`,
    ...message.toolCalls.map(({ id }) => id),
    ...results.map(words),
  ]);
}

test('a result stands behind the turn of its call, whatever was said in between', () => {
  const calls = said('assistant', '', ['a', 'b']);
  assert.deepEqual(turns(calls, result('a', '1'), said('user', 'hm'), result('b', '2')), [
    ['assistant ', 'a', 'b', '1', '2'],
    ['user hm'],
  ]);
});

test('what the model says behind its calls belongs to their turn, before it not', () => {
  const calls = said('assistant', 'I', ['a']);
  const more = said('assistant', 'look', ['b']);
  assert.deepEqual(turns(calls, more, result('b', '2'), result('a', '1')), [
    ['assistant I+look', 'a', 'b', '2', '1'],
  ]);
  assert.deepEqual(turns(said('assistant', 'well'), calls), [
    ['assistant well'],
    ['assistant I', 'a'],
  ]);
  assert.deepEqual(turns(calls, result('a', '1'), said('assistant', 'so')), [
    ['assistant I', 'a', '1'],
    ['assistant so'],
  ]);
});

test('an id that is used again is that of the newest open call; others are nobody’s', () => {
  const first = said('assistant', '', ['a', 'a']);
  const again = said('assistant', '', ['a']);
  const one = result('a', '1');
  assert.deepEqual(turns(first, one, one, again, result('a', '2'), result('a', '3')), [
    ['assistant ', 'a', 'a', '1', '1'],
    ['assistant ', 'a', '2'],
    ['tool 3'],
  ]);
  assert.deepEqual(turns(result('a', '0'), again), [['tool 0'], ['assistant ', 'a']]);
});
