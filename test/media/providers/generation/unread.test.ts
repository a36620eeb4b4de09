// Parts of an answer that nobody here knows are not dropped without a word, streamed or whole. Text
// in them is text, and thinking is reasoning. All else is told by the name of its kind.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent } from '../../../../media/model/events.ts';
import type { ClientFormat } from '../../../../media/providers/generation/contract.ts';
import { requireFamily } from '../../../../media/providers/generation/families.ts';
import { StopCut } from '../../../../media/providers/generation/stops.ts';

type Part = unknown;

const sse = (events: readonly object[], end = '') =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + end;

const chat = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason }],
});

const responsesItem = (parts: readonly Part[]) => ({ type: 'message', id: 'm', content: parts });

/** The bodies by which a server of the family tells parts: one by one, and all at once. */
const bodies: Record<string, Record<'streamed' | 'whole', (parts: readonly Part[]) => string>> = {
  'openai-chat': {
    streamed: (parts) =>
      sse(
        [...parts.map((part) => chat({ content: [part] })), chat({}, 'stop')],
        'data: [DONE]\n\n',
      ),
    whole: (parts) =>
      JSON.stringify({
        id: 'c',
        choices: [{ index: 0, message: { content: parts }, finish_reason: 'stop' }],
      }),
  },
  'openai-responses': {
    // The end of a part, of its item and of the response all tell it: it counts once.
    streamed: (parts) =>
      sse([
        { type: 'response.created' },
        { type: 'response.output_item.added', output_index: 0, item: responsesItem([]) },
        ...parts.map((part, content_index) => ({
          type: 'response.content_part.done',
          output_index: 0,
          content_index,
          part,
        })),
        { type: 'response.output_item.done', output_index: 0, item: responsesItem(parts) },
        {
          type: 'response.completed',
          response: { status: 'completed', output: [responsesItem(parts)] },
        },
      ]),
    whole: (parts) => JSON.stringify({ status: 'completed', output: [responsesItem(parts)] }),
  },
  'anthropic-messages': {
    streamed: (parts) =>
      sse([
        { type: 'message_start', message: { id: 'm', content: [] } },
        ...parts.flatMap((content_block, index) => [
          { type: 'content_block_start', index, content_block },
          { type: 'content_block_stop', index },
        ]),
        { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
        { type: 'message_stop' },
      ]),
    whole: (parts) =>
      JSON.stringify({ type: 'message', id: 'm', content: parts, stop_reason: 'end_turn' }),
  },
};

function read(family: string, body: string, clientFormat?: ClientFormat): ModelEvent[] {
  const reader = requireFamily(family).createReader(clientFormat);
  return [...reader.push(Buffer.from(body)), ...reader.end()];
}

/** What was told of the parts; deltas of one kind are one. */
function toldOf(events: readonly ModelEvent[]): [type: string, text: string][] {
  const told: [string, string][] = [];
  for (const event of events) {
    const { type } = event;
    const text = 'text' in event ? event.text : type === 'unread' ? event.part : null;
    if (text === null) continue;
    const last = told.at(-1);
    if (last?.[0] === type && type !== 'unread') last[1] += text;
    else told.push([type, text]);
  }
  return told;
}

const parts: Part[] = [
  {
    type: 'thinking',
    thinking: [
      { type: 'text', text: 'one ' },
      { type: 'text', text: 'two' },
    ],
  },
  { type: 'reasoning', text: ' three' },
  { type: 'thinking', thinking: ' four' },
  { type: 'a_text_of_tomorrow', text: 'a text' },
  { type: 'reference', reference_ids: [1, 2] },
  { type: 'x'.repeat(500), data: '' },
  { type: '<b>\n' },
  { type: 7 },
];

const wanted = [
  ['reasoning', 'one two three four'],
  ['text', 'a text'],
  ['unread', 'reference'],
  ['unread', 'other'],
  ['unread', 'other'],
  ['unread', 'other'],
];

const formats: readonly (ClientFormat | undefined)[] = [
  undefined,
  'chat',
  'responses',
  'messages',
  'legacy',
];

for (const [family, ways] of Object.entries(bodies)) {
  for (const [way, body] of Object.entries(ways)) {
    test(`${family}, ${way}: no part is dropped without a word`, () => {
      for (const format of formats) {
        const told = toldOf(read(family, body(parts), format)).map(([type, text]) => [
          type,
          text.replaceAll('\n\n', ''),
        ]);
        assert.deepEqual(told, wanted, format);
      }
    });
  }
}

test('Mistral thinks in parts of its content, and then says words', () => {
  const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
  const body = sse(
    [
      chat({ role: 'assistant', content: '' }),
      chat({ content: [thinking('I ')] }),
      chat({ content: [thinking('should.')] }),
      chat({
        content: [
          { ...thinking(''), closed: true },
          { type: 'text', text: 'So: ' },
        ],
      }),
      chat({ content: 'yes' }),
      chat({ content: '' }, 'stop'),
    ],
    'data: [DONE]\n\n',
  );
  assert.deepEqual(toldOf(read('openai-chat', body, 'messages')), [
    ['reasoning', 'I should.'],
    ['text', 'So: yes'],
  ]);
});

test('a list of strings, an empty one, and a refusal among the parts', () => {
  const body = sse([
    chat({ content: [] }),
    chat({ content: ['a', null, 'b'] }),
    chat({ content: [{ type: 'refusal', refusal: 'never' }] }, 'stop'),
  ]);
  assert.deepEqual(toldOf(read('openai-chat', body)), [
    ['text', 'a'],
    ['unread', 'other'],
    ['text', 'b'],
    ['refusal', 'never'],
  ]);
});

test('a block of Messages that nobody knows may write text, and think', () => {
  const block = (index: number, ...deltas: object[]) => [
    { type: 'content_block_start', index, content_block: { type: 'of_tomorrow' } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const body = sse([
    { type: 'message_start', message: { id: 'm', content: [] } },
    ...block(0, { type: 'thinking_delta', thinking: 'hm' }),
    ...block(1, { type: 'text_delta', text: 'a' }, { type: 'text_delta', text: 'b' }),
    ...block(2, { type: 'picture_delta', data: 'AAAA' }),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ]);
  for (const format of formats) {
    const told = toldOf(read('anthropic-messages', body, format));
    assert.deepEqual(told, [
      ['reasoning', 'hm'],
      ['text', 'ab'],
      ['unread', 'of_tomorrow'],
    ]);
  }
});

for (const way of ['streamed', 'whole'] as const) {
  test(`gemini, ${way}: parts of other kinds are told by their members`, () => {
    const list = [
      { text: 'a' },
      { executableCode: { language: 'PYTHON', code: '1' } },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { text: '', thoughtSignature: 'c2ln' },
      { thoughtSignature: 'c2ln' },
      { thought: true },
      {},
      { text: 'b' },
    ];
    const content = (each: readonly object[]) => ({ index: 0, content: { parts: each } });
    const end = { index: 0, content: { parts: [] }, finishReason: 'STOP' };
    const body =
      way === 'streamed'
        ? sse([...list.map((part) => ({ candidates: [content([part])] })), { candidates: [end] }])
        : JSON.stringify([{ candidates: [{ ...content(list), finishReason: 'STOP' }] }]);
    assert.deepEqual(toldOf(read('gemini', body)), [
      ['text', 'a'],
      ['unread', 'executableCode'],
      ['unread', 'inlineData'],
      ['text', 'b'],
    ]);
  });
}

test('a part that nobody knows is no answer: a word that nobody knows is a cut behind it', () => {
  for (const [family, { whole }] of Object.entries(bodies)) {
    const body = whole([{ type: 'reference', ids: [] }]);
    const odd = body.replaceAll(/"(?:stop|completed|end_turn)"/g, '"a_word_of_tomorrow"');
    assert.equal(read(family, odd).at(-1)?.type, 'failure', family);
  }
});

test('a part that nobody knows does not let words out that may belong to a stop sequence', () => {
  const stop = new StopCut(['END']);
  const text = (words: string): ModelEvent => ({ type: 'text', text: words, plain: true });
  const kept = stop.keep([text('a EN'), { type: 'unread', part: 'other' }, text('D b')]);
  assert.deepEqual(
    kept.map((event) => ('text' in event ? event.text : event.type)),
    ['a ', 'finish'],
  );
});
