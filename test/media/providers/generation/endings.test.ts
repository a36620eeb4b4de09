// A word that ends an answer means the same in every family. The readers are compared with words of
// all of them, of their servers, and with words that nobody knows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent } from '../../../../media/model/events.ts';
import { requireFamily } from '../../../../media/providers/generation/families.ts';

const sse = (events: readonly object[], end = '') =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + end;

/** The body by which a server of the family ends an answer with this word. */
const bodies: Record<string, (word: string, text: string) => string> = {
  'openai-chat': (word, text) =>
    sse(
      [
        { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: text } }] },
        { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: word }] },
      ],
      'data: [DONE]\n\n',
    ),
  'anthropic-messages': (word, text) =>
    sse([
      { type: 'message_start', message: { id: 'm', content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: word } },
      { type: 'message_stop' },
    ]),
  gemini: (word, text) =>
    sse([
      { candidates: [{ index: 0, content: { parts: [{ text }] } }] },
      { candidates: [{ index: 0, content: { parts: [] }, finishReason: word.toUpperCase() }] },
    ]),
  'openai-responses': (word, text) =>
    JSON.stringify({
      id: 'r',
      status: word,
      output: text === '' ? [] : [{ type: 'message', content: [{ type: 'output_text', text }] }],
    }),
};

function endOf(family: string, word: string, text: string): string {
  const reader = requireFamily(family).createReader();
  const events: ModelEvent[] = [];
  events.push(...reader.push(Buffer.from(bodies[family]?.(word, text) ?? '')), ...reader.end());
  const last = events.findLast(({ type }) => type === 'finish' || type === 'failure');
  assert.ok(last !== undefined, `${family} ends`);
  if (last.type === 'failure') return `failure: ${last.failure.kind}`;
  return last.type === 'finish' ? last.reason : '';
}

/** What each means behind a text, and where no text came. */
const wanted: [words: string[], answered: string, empty: string][] = [
  [['stop', 'end_turn', 'stop_sequence', 'completed', 'eos_token', 'pause_turn'], 'stop', 'stop'],
  [['tool_calls', 'tool_use', 'function_call'], 'tool_calls', 'tool_calls'],
  [['length', 'max_tokens', 'model_context_window_exceeded'], 'length', 'length'],
  [['content_filter', 'sensitive', 'safety', 'refusal'], 'content_filter', 'content_filter'],
  [
    ['network_error', 'insufficient_system_resource', 'error', 'abort', 'malformed_function_call'],
    'failure: cut',
    'failure: cut',
  ],
  [['a_word_of_tomorrow', 'other', 'stopp', ' ', '__proto__'], 'length', 'failure: cut'],
];

for (const family of Object.keys(bodies)) {
  test(`${family}: every word that ends an answer means what it means elsewhere`, () => {
    for (const [words, answered, empty] of wanted) {
      for (const word of words) {
        assert.equal(endOf(family, word, 'some words'), answered, `${word} behind a text`);
        assert.equal(endOf(family, word, ''), empty, `${word} and no text`);
      }
    }
  });
}

test('an empty reason is none: arguments go on, and the last reason counts', () => {
  const chunk = (delta: object, finish_reason: string | null = '') => ({
    id: 'c',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const call = (text: string, rest: object = {}) =>
    chunk({ tool_calls: [{ index: 0, function: { arguments: text }, ...rest }] });
  const reader = requireFamily('openai-chat').createReader();
  const first = { id: 'c1', function: { name: 'read', arguments: '{"path":' } };
  const body = sse(
    [chunk({ role: 'assistant' }), call('', first), call('"a"}'), chunk({}, 'tool_calls')],
    'data: [DONE]\n\n',
  );
  const events = [...reader.push(Buffer.from(body)), ...reader.end()];
  const told = events.flatMap((event) => (event.type === 'tool_arguments' ? event.text : []));
  assert.equal(told.join(''), '{"path":"a"}');
  assert.deepEqual(events.at(-1), { type: 'finish', reason: 'tool_calls' });

  const long = requireFamily('openai-chat').createReader();
  const cut = sse([chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'length')]);
  assert.deepEqual(long.push(Buffer.from(cut)).at(-1), { type: 'finish', reason: 'length' });
});

test('what a server says of its failure beside the word is what is wrong', () => {
  const reader = requireFamily('openai-chat').createReader();
  const error = { code: 429, message: 'slow down' };
  const body = sse([
    { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'error', error }] },
  ]);
  const last = reader.push(Buffer.from(body)).at(-1);
  assert.ok(last?.type === 'failure');
  assert.equal(last.failure.kind, 'busy');
});
