// A word that ends an answer means the same in every family. The readers are compared with words of
// all of them, of their servers, and with words that nobody knows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent } from '../../../../media/model/events.ts';
import { requireFamily } from '../../../../media/providers/generation/families.ts';

const sse = (events: readonly object[], end = '') =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + end;

const upper = (word: unknown) => (typeof word === 'string' ? word.toUpperCase() : word);

/** The body by which a server of the family ends an answer with this word. */
const bodies: Record<string, (word: unknown, text: string) => string> = {
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
      { candidates: [{ index: 0, content: { parts: [] }, finishReason: upper(word) }] },
    ]),
  'openai-responses': (word, text) =>
    JSON.stringify({
      id: 'r',
      status: word,
      output: text === '' ? [] : [{ type: 'message', content: [{ type: 'output_text', text }] }],
    }),
};

function endOf(family: string, word: unknown, text: string): string {
  return endIn(family, bodies[family]?.(word, text) ?? '');
}

function endIn(family: string, body: string): string {
  const reader = requireFamily(family).createReader();
  const events: ModelEvent[] = [];
  events.push(...reader.push(Buffer.from(body)), ...reader.end());
  const last = events.findLast(({ type }) => type === 'finish' || type === 'failure');
  assert.ok(last !== undefined, `${family} ends`);
  if (last.type === 'failure') return `failure: ${last.failure.kind}`;
  return last.type === 'finish' ? last.reason : '';
}

/** What each means behind a text, and where no text came. */
const wanted: [words: unknown[], answered: string, empty: string][] = [
  [['stop', 'end_turn', 'stop_sequence', 'completed', 'eos_token', 'pause_turn'], 'stop', 'stop'],
  // Calls that did not come are lost, whatever was said before them.
  [['tool_calls', 'tool_use', 'function_call'], 'length', 'failure: cut'],
  [['length', 'max_tokens', 'model_context_window_exceeded'], 'length', 'length'],
  [['content_filter', 'sensitive', 'safety', 'refusal'], 'content_filter', 'content_filter'],
  [
    ['network_error', 'insufficient_system_resource', 'error', 'abort', 'malformed_function_call'],
    'failure: cut',
    'failure: cut',
  ],
  [['a_word_of_tomorrow', 'other', 'stopp', ' ', '__proto__'], 'length', 'failure: cut'],
  [[1, 0, -1, true, false, {}, { reason: 'stop' }, [], ['stop']], 'length', 'failure: cut'],
];

for (const family of Object.keys(bodies)) {
  test(`${family}: every word that ends an answer means what it means elsewhere`, () => {
    for (const [words, answered, empty] of wanted) {
      for (const word of words) {
        const told = JSON.stringify(word);
        assert.equal(endOf(family, word, 'some words'), answered, `${told} behind a text`);
        assert.equal(endOf(family, word, ''), empty, `${told} and no text`);
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

const chatChunk = (delta: object, finish_reason: unknown = null) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason }],
});
const done = 'data: [DONE]\n\n';

test('Chat: a reason that is no word ends nothing where a word follows', () => {
  for (const odd of [false, 0, {}, []]) {
    const chunks = [chatChunk({ content: 'a' }, odd), chatChunk({ content: 'b' }, odd)];
    const told = JSON.stringify(odd);
    assert.equal(endIn('openai-chat', sse([...chunks, chatChunk({}, 'stop')], done)), 'stop', told);
    assert.equal(endIn('openai-chat', sse(chunks)), 'length', `${told} and no terminator`);
  }
});

test('Chat: an object says its reason by its type', () => {
  const cases: [reason: object, wanted: string][] = [
    [{ type: 'stop', matched: 7 }, 'stop'],
    [{ type: 'length', length: 9 }, 'length'],
    [{ type: 'abort', message: 'gone' }, 'failure: cut'],
    [{ type: null }, 'length'],
    [{ type: 1 }, 'length'],
  ];
  for (const [reason, wanted] of cases) {
    assert.equal(endOf('openai-chat', reason, 'some words'), wanted, JSON.stringify(reason));
  }
});

test('Chat: calls may follow the reason that announces them', () => {
  const call = { index: 0, id: 'c1', function: { name: 'read', arguments: '{}' } };
  const chunks = [
    chatChunk({ role: 'assistant' }),
    chatChunk({}, 'tool_calls'),
    chatChunk({ tool_calls: [call] }),
  ];
  assert.equal(endIn('openai-chat', sse(chunks, done)), 'tool_calls');
  assert.equal(endIn('openai-chat', sse(chunks)), 'tool_calls');
});

test('Messages: a call that its provider runs itself is none that the client has to answer', () => {
  const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'a' } };
  const body = (stop_reason: string) =>
    JSON.stringify({ type: 'message', id: 'm', content: [search], stop_reason });
  assert.equal(endIn('anthropic-messages', body('pause_turn')), 'stop');
  assert.equal(endIn('anthropic-messages', body('tool_use')), 'length');
});

test('Responses: a reason of an incomplete response that is no word is a reason', () => {
  const output = [{ type: 'message', content: [{ type: 'output_text', text: 'a' }] }];
  const body = JSON.stringify({ status: 'completed', incomplete_details: { reason: 1 }, output });
  assert.equal(endIn('openai-responses', body), 'length');
  // It is of no type that a client of the format expects.
  const reader = requireFamily('openai-responses').createReader('responses');
  const last = [...reader.push(Buffer.from(body)), ...reader.end()].at(-1);
  assert.deepEqual(last, { type: 'finish', reason: 'length' });
});
