// Streams of Messages servers, written from the vendor's published types (not recorded from it),
// and the events that they must give.
import type { ModelEvent } from '../../../../../media/model/events.ts';
import type { Fixture } from '../../../transport/in-pieces.ts';

type Members = Record<string, unknown>;

export function sse(type: string, members: Members = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

export const ping = sse('ping');
const stop = sse('message_stop');

export function opened(usage: unknown = { input_tokens: 5, output_tokens: 1 }): string {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] };
  return sse('message_start', { message: { ...message, stop_reason: null, usage } });
}

export function delta(index: number, value: Members): string {
  return sse('content_block_delta', { index, delta: value });
}

export function text(index: number, value: string): string {
  return delta(index, { type: 'text_delta', text: value });
}

export function block(index: number, start: Members, ...deltas: string[]): string {
  const begin = sse('content_block_start', { index, content_block: start });
  return begin + deltas.join('') + sse('content_block_stop', { index });
}

function textBlock(index: number, ...values: string[]): string {
  const start = { type: 'text', text: '', citations: null };
  return block(index, start, ...values.map((value) => text(index, value)));
}

function json(index: number, value: string): string {
  return delta(index, { type: 'input_json_delta', partial_json: value });
}

export function closed(reason: string, usage: unknown = { output_tokens: 7 }, more = {}): string {
  const members = { stop_reason: reason, stop_sequence: null, stop_details: null, ...more };
  return sse('message_delta', { delta: members, usage }) + stop;
}

export function counted(inputTokens: number, outputTokens: number, more = {}) {
  const zero = { cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, searchCalls: 0 };
  return { inputTokens, outputTokens, ...zero, ...more };
}

const start: ModelEvent = { type: 'start', usage: counted(5, 1) };
const usage: ModelEvent = { type: 'usage', usage: counted(5, 7) };
const end: ModelEvent = { type: 'finish', reason: 'stop' };
const calls: ModelEvent = { type: 'finish', reason: 'tool_calls' };

function said(value: string, plain = true): ModelEvent {
  return { type: 'text', text: value, plain };
}

function call(index: number, id: string, name: string): ModelEvent {
  return { type: 'tool_call', index, id, name };
}

function args(index: number, value: string): ModelEvent {
  return { type: 'tool_arguments', index, text: value };
}

function native(value: Members): ModelEvent {
  return { type: 'native', format: 'messages', value };
}

/** An event whose name stands in its data alone. */
const unnamed = JSON.stringify({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'b', y: {} },
  z: [],
});

const textFixtures: Fixture[] = [
  {
    name: 'the common stream, with characters of two to four bytes and with escapes',
    body: [
      opened(),
      ping,
      textBlock(0, ' Grüße', ' 漢字', ' 🙂', ' say "hi"\n', ' back\\slash', ' a', ' b', ' end'),
      closed('end_turn'),
    ].join(''),
    events: [
      start,
      said(' Grüße'),
      said(' 漢字'),
      said(' 🙂'),
      said(' say "hi"\n', false),
      said(' back\\slash', false),
      said(' a'),
      said(' b'),
      said(' end'),
      end,
      usage,
    ],
  },
  {
    name: 'carriage returns, comments, no event names, pings between, unknown events and members',
    body: [
      ': hello\r\n\r\n',
      opened().replaceAll('\n', '\r\n'),
      sse('shiny_new_event', { index: 0, delta: { type: 'text_delta', text: 'no' } }),
      'event: other_event\ndata: not json\n\n',
      sse('content_block_start', { index: 0, content_block: { type: 'text', text: 'a', x: 1 } }),
      ping,
      `data: ${unnamed}\r\r`,
      delta(0, { type: 'new_delta', text: 'no' }),
      block(1, { type: 'new_block', text: 'c' }, text(1, 'd')),
      sse('content_block_stop', { index: 0 }),
      closed('end_turn', { output_tokens: 7, new_tokens: { a: 1 } }),
      'data: [DONE]\n\n',
    ].join(''),
    events: [start, said('a'), said('b'), said('c'), said('d'), end, usage],
  },
  {
    name: 'text that looks like its surroundings, in two blocks',
    body: [
      opened(),
      textBlock(0, 'text', 'text', '0', 'index', 'text_delta'),
      textBlock(1, 'text', 'a', 'text'),
      closed('end_turn'),
    ].join(''),
    events: [
      start,
      ...['text', 'text', '0', 'index', 'text_delta', 'text', 'a', 'text'].map((each) =>
        said(each),
      ),
      end,
      usage,
    ],
  },
];

const endFixtures: Fixture[] = [
  ...(
    [
      ['max_tokens', { type: 'finish', reason: 'length' }],
      // The call that it tells of did not come.
      ['tool_use', { type: 'finish', reason: 'length' }],
      [
        'pause_turn',
        {
          type: 'finish',
          reason: 'stop',
          native: { format: 'messages', value: { stop_reason: 'pause_turn' } },
        },
      ],
      [
        'model_context_window_exceeded',
        {
          type: 'finish',
          reason: 'length',
          native: { format: 'messages', value: { stop_reason: 'model_context_window_exceeded' } },
        },
      ],
    ] as const
  ).map(
    ([reason, finish]): Fixture => ({
      name: `the end of ${reason}`,
      body: opened() + textBlock(0, 'a') + closed(reason),
      events: [start, said('a'), finish as ModelEvent, usage],
    }),
  ),
  {
    name: 'the end of a stop sequence, which is named',
    body:
      opened() +
      textBlock(0, 'a') +
      closed('stop_sequence', { output_tokens: 7 }, { stop_sequence: 'END' }),
    events: [start, said('a'), { type: 'finish', reason: 'stop', stopSequence: 'END' }, usage],
  },
  {
    name: 'a refusal with its details',
    body:
      opened() +
      closed(
        'refusal',
        { output_tokens: 7 },
        { stop_details: { type: 'refusal', category: 'bio' } },
      ),
    events: [
      start,
      {
        type: 'finish',
        reason: 'content_filter',
        native: {
          format: 'messages',
          value: { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'bio' } },
        },
      },
      usage,
    ],
  },
  {
    name: 'no message_stop, no end of the block, usage in an event of its own',
    body: [
      opened(),
      sse('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      text(0, 'a'),
      sse('message_delta', { delta: { stop_reason: 'end_turn' } }),
      sse('message_delta', { delta: {}, usage: { output_tokens: 7 } }),
    ].join(''),
    events: [start, said('a'), end, usage],
  },
  {
    name: 'usage of every kind: the last report wins, nulls say nothing',
    body:
      opened({
        input_tokens: 5,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 2,
        output_tokens: 1,
      }) +
      textBlock(0, 'a') +
      closed('end_turn', {
        input_tokens: 6,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: 4,
        output_tokens: 7,
        output_tokens_details: { thinking_tokens: 2 },
        server_tool_use: { web_search_requests: 1, web_fetch_requests: 3 },
      }),
    events: [
      {
        type: 'start',
        usage: counted(5, 1, { cachedInputTokens: 2, cacheWriteTokens: 3 }),
      },
      said('a'),
      end,
      {
        type: 'usage',
        usage: counted(6, 5, {
          cachedInputTokens: 4,
          cacheWriteTokens: 3,
          reasoningTokens: 2,
          searchCalls: 1,
        }),
      },
    ],
  },
  {
    name: 'no usage at all, and a usage of zeros',
    body: opened(null) + textBlock(0, 'a') + closed('end_turn', null),
    events: [{ type: 'start' }, said('a'), end],
  },
  {
    name: 'a usage of zeros',
    body:
      opened({ input_tokens: 0, output_tokens: 0 }) +
      textBlock(0, 'a') +
      closed('end_turn', { output_tokens: 0 }),
    events: [
      { type: 'start', usage: counted(0, 0) },
      said('a'),
      end,
      { type: 'usage', usage: counted(0, 0) },
    ],
  },
];

const searchBlock = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: { query: 'news' },
};
const results = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [{ type: 'web_search_result', url: 'https://a.example', title: 'A' }],
};
const source = {
  type: 'web_search_result_location',
  cited_text: 'c',
  url: 'https://a.example',
  title: 'A',
  encrypted_index: 'e',
};
const page = { type: 'page_location', cited_text: 'c', document_index: 0, document_title: 'D' };

const blockFixtures: Fixture[] = [
  {
    name: 'two calls with one id',
    body: [
      opened(),
      block(0, { type: 'tool_use', id: 'f:0', name: 'f', input: { x: 1 } }),
      block(1, { type: 'tool_use', id: 'f:0', name: 'f', input: { x: 2 } }),
      closed('tool_use'),
    ].join(''),
    events: [
      start,
      call(0, 'f:0', 'f'),
      args(0, '{"x":1}'),
      call(1, 'f:0_1', 'f'),
      args(1, '{"x":2}'),
      calls,
      usage,
    ],
  },
  {
    name: 'thinking with its signature, redacted thinking, two tools at once',
    body: [
      opened(),
      block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        delta(0, { type: 'thinking_delta', thinking: 'hm "so"' }),
        delta(0, { type: 'thinking_delta', thinking: ' yes' }),
        delta(0, { type: 'signature_delta', signature: 'sig' }),
      ),
      block(1, { type: 'redacted_thinking', data: 'xyz' }),
      textBlock(2, 'I look.'),
      block(
        3,
        { type: 'tool_use', id: 'toolu_a', name: 'f', input: {} },
        json(3, ''),
        json(3, '{"city":'),
        json(3, '"Köln"}'),
      ),
      block(4, { type: 'tool_use', id: 'toolu_b', name: 'g', input: {} }, json(4, '')),
      block(5, { type: 'tool_use', id: 'toolu_c', name: 'h', input: { x: 1 } }),
      closed('tool_use'),
    ].join(''),
    events: [
      start,
      { type: 'reasoning', text: 'hm "so"' },
      { type: 'reasoning', text: ' yes' },
      { type: 'reasoning_end', format: 'messages', value: { signature: 'sig' } },
      native({ type: 'redacted_thinking', data: 'xyz' }),
      said('I look.'),
      call(0, 'toolu_a', 'f'),
      args(0, '{"city":'),
      args(0, '"Köln"}'),
      call(1, 'toolu_b', 'g'),
      args(1, '{}'),
      call(2, 'toolu_c', 'h'),
      args(2, '{"x":1}'),
      calls,
      usage,
    ],
  },
  {
    name: 'a search of the provider, its results, and cited text',
    body: [
      opened(),
      block(
        0,
        { ...searchBlock, input: {} },
        json(0, ''),
        json(0, '{"query":'),
        json(0, '"news"}'),
      ),
      block(1, results),
      textBlock(2, 'Well: '),
      block(
        3,
        { type: 'text', text: '', citations: [] },
        delta(3, { type: 'citations_delta', citation: source }),
        text(3, 'it is so'),
        text(3, '.'),
        delta(3, { type: 'citations_delta', citation: page }),
      ),
      textBlock(4, ' Indeed.'),
      closed('end_turn'),
    ].join(''),
    events: [
      start,
      native(searchBlock),
      native(results),
      said('Well: '),
      said('it is so'),
      said('.'),
      {
        type: 'citation',
        citation: {
          url: 'https://a.example',
          title: 'A',
          start: 6,
          end: 15,
          native: { format: 'messages', value: source },
        },
      },
      {
        type: 'citation',
        citation: {
          url: '',
          title: 'D',
          start: 6,
          end: 15,
          native: { format: 'messages', value: page },
        },
      },
      said(' Indeed.'),
      end,
      usage,
    ],
  },
  {
    name: 'a whole message instead of a stream',
    body: JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'a', citations: [source] },
        { type: 'tool_use', id: 't', name: 'f', input: { x: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 5, output_tokens: 7 },
    }),
    events: [
      { type: 'start', usage: counted(5, 7) },
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning_end', format: 'messages', value: { signature: 's' } },
      said('a'),
      {
        type: 'citation',
        citation: {
          url: 'https://a.example',
          title: 'A',
          start: 0,
          end: 1,
          native: { format: 'messages', value: source },
        },
      },
      call(0, 't', 'f'),
      args(0, '{"x":1}'),
      calls,
      usage,
    ],
  },
];

type Kind = 'failed' | 'garbage' | 'cut' | 'busy' | 'rejected';

function failed(detail: string, kind: Kind): ModelEvent {
  return { type: 'failure', failure: { kind, status: null, retryAfterMs: null, detail } };
}

const failureFixtures: Fixture[] = [
  ...(
    [
      ['overloaded_error', 'failed'],
      ['api_error', 'failed'],
      ['rate_limit_error', 'busy'],
      ['invalid_request_error', 'rejected'],
      ['constructor', 'failed'],
    ] as const
  ).map(
    ([type, kind]): Fixture => ({
      name: `an error event of type ${type}`,
      body: opened() + textBlock(0, 'a') + sse('error', { error: { type, message: 'no' } }),
      events: [start, said('a'), failed(`${type}: no`, kind)],
    }),
  ),
  {
    name: 'an event that is no JSON',
    body: `${opened()}event: content_block_delta\ndata: {"type":"content_block_delta","ind\n\n`,
    events: [start, failed('not an event: {"type":"content_block_delta","ind', 'garbage')],
  },
  {
    name: 'an end without a beginning',
    body: stop,
    events: [failed('the end of a message without its beginning', 'garbage')],
  },
  {
    name: 'a connection that closes in the middle',
    body: opened() + text(0, 'lost') + textBlock(1, 'a'),
    events: [start, said('a'), failed('the body ended before the answer did', 'cut')],
  },
];

export const fixtures: readonly Fixture[] = [
  ...textFixtures,
  ...endFixtures,
  ...blockFixtures,
  ...failureFixtures,
];
