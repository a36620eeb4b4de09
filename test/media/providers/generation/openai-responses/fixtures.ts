// Streams as servers of this family send them, written from their published types and reports (not
// recorded from a provider), and the events that they must give.
import type { ModelEvent, UpstreamFailure } from '../../../../../media/model/events.ts';
import type { Fixture } from '../../../transport/in-pieces.ts';

/** Numbers the events of one stream, as the vendor does: the number stands behind the type. */
export function stream(...events: [type: string, members?: Record<string, unknown>][]): string {
  return events
    .map(([name, members = {}], index) => {
      const type = name === 'error' ? name : `response.${name}`;
      const data = JSON.stringify({ type, sequence_number: index, ...members });
      return `event: ${type}\ndata: ${data}\n\n`;
    })
    .join('');
}

const head = { id: 'resp_up', object: 'response', model: 'm', created_at: 1 };
const usageMembers = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 17,
};

export function response(status: string, more: Record<string, unknown> = {}) {
  return { response: { ...head, status, output: [], usage: usageMembers, ...more } };
}

const start: ModelEvent = { type: 'start' };
const stop: ModelEvent = { type: 'finish', reason: 'stop' };
const calls: ModelEvent = { type: 'finish', reason: 'tool_calls' };

function text(value: string, plain = true): ModelEvent {
  return { type: 'text', text: value, plain };
}

function usage(searchCalls = 0): ModelEvent {
  return {
    type: 'usage',
    usage: {
      inputTokens: 5,
      cachedInputTokens: 4,
      cacheWriteTokens: 1,
      outputTokens: 5,
      reasoningTokens: 2,
      searchCalls,
    },
  };
}

function failure(kind: UpstreamFailure['kind'], detail: string): ModelEvent {
  return { type: 'failure', failure: { kind, status: null, retryAfterMs: null, detail } };
}

const begin = [
  ['created', response('in_progress', { usage: null })],
  ['in_progress', response('in_progress', { usage: null })],
] as [string, Record<string, unknown>][];
const patch = { type: 'custom_tool_call', id: 'c', call_id: 'a', name: 'patch', input: 'x' };
const completed: [string, Record<string, unknown>] = ['completed', response('completed')];

const message = { type: 'message', id: 'msg_up', status: 'in_progress', role: 'assistant' };
const place = { item_id: 'msg_up', output_index: 0, content_index: 0 };

function delta(value: string, more: Record<string, unknown> = {}): [string, object] {
  return ['output_text.delta', { ...place, delta: value, logprobs: [], ...more }];
}

function textPart(value: string, annotations: unknown[] = []) {
  return { type: 'output_text', annotations, logprobs: [], text: value };
}

function ended(value: string, annotations: unknown[] = []): [string, Record<string, unknown>][] {
  const part = textPart(value, annotations);
  return [
    ['output_text.done', { ...place, text: value, logprobs: [] }],
    ['content_part.done', { ...place, part }],
    ['output_item.done', { output_index: 0, item: { ...message, content: [part] } }],
  ];
}

const opened: [string, Record<string, unknown>][] = [
  ['output_item.added', { output_index: 0, item: { ...message, content: [] } }],
  ['content_part.added', { ...place, part: textPart('') }],
];

const pieces = [' Grüße', ' 漢字', ' 🙂', ' say "hi"\n', ' back\\slash', '\u2028', ' end', ' end'];
const citation = {
  type: 'url_citation',
  start_index: 1,
  end_index: 4,
  url: 'https://x.test',
  title: 'X',
};

const textFixtures: Fixture[] = [
  {
    name: 'the common stream, with characters of two to four bytes and with escapes',
    body: stream(
      ...begin,
      ...opened,
      ...pieces.map((piece) => delta(piece) as [string, Record<string, unknown>]),
      ...ended(pieces.join('')),
      completed,
    ),
    events: [start, ...pieces.map((piece) => text(piece, !/["\\\n]/.test(piece))), stop, usage()],
  },
  {
    name: 'numbers behind the text, padding, unknown members and events',
    body: `${stream(...begin)}${[1, 20, 300]
      .map((number) => {
        const members = JSON.stringify({ ...place, delta: `t${number}`, x: 'delta' }).slice(1, -1);
        const data = `{"type":"response.output_text.delta",${members},"sequence_number":${number}}`;
        return `event: response.output_text.delta\ndata: ${data}\n\n`;
      })
      .join('')}${stream(['brand_new.delta', { delta: 'x' }], completed)}`,
    events: [start, text('t1'), text('t20'), text('t300'), stop, usage()],
  },
  {
    name: 'deltas left out: texts are read from what is done, each once',
    body: stream(...begin, ...opened, ...ended('all', [citation]), completed),
    events: [
      start,
      text('all'),
      {
        type: 'citation',
        citation: { url: 'https://x.test', title: 'X', start: 1, end: 4 },
      },
      stop,
      usage(),
    ],
  },
  {
    name: 'nothing but the whole response at the end',
    body: stream([
      'completed',
      response('completed', { output: [{ ...message, content: [textPart('all')] }] }),
    ]),
    events: [start, text('all'), stop, usage()],
  },
  {
    name: 'a JSON body instead of a stream',
    body: JSON.stringify({
      ...response('incomplete', {
        output: [{ ...message, content: [textPart('cut')] }],
        incomplete_details: { reason: 'max_output_tokens' },
      }).response,
    }),
    events: [start, text('cut'), { type: 'finish', reason: 'length' }, usage()],
  },
  {
    name: 'carriage returns, comments, types in the event line alone, a terminator of Chat',
    body: [
      ': hello\r\n\r\nevent: response.created\r\ndata: {}\r\n\r\n',
      'event: response.output_text.delta\r\ndata: {"output_index":0,"delta":"a"}\r\n\r\n',
      ': keep-alive\nevent: response.completed\ndata: {"response":{}}\n\ndata: [DONE]\n\n',
    ].join(''),
    events: [start, text('a'), stop],
  },
];

const summary = (index: number) => ({ item_id: 'rs_up', output_index: 0, summary_index: index });
const summaries = [
  { type: 'summary_text', text: 'one' },
  { type: 'summary_text', text: 'two' },
];
const reasoningItem = { type: 'reasoning', id: 'rs_up', summary: summaries };
const search = {
  type: 'web_search_call',
  id: 'ws_up',
  status: 'completed',
  action: { type: 'search', query: 'q' },
};
const opening = { ...search, action: { type: 'open_page', url: 'u' } };

function call(index: number, id: string, name: string, args = '') {
  const item = { type: 'function_call', id: `fc_${index}`, call_id: id, name, arguments: args };
  return { output_index: index, item };
}

function fragment(index: number, value: string): [string, Record<string, unknown>] {
  const members = { item_id: `changing_${value}`, output_index: index, delta: value };
  return ['function_call_arguments.delta', members];
}

const itemFixtures: Fixture[] = [
  {
    name: 'reasoning in two parts with sealed content, then text',
    body: stream(
      ...begin,
      ['output_item.added', { output_index: 0, item: { ...reasoningItem, summary: [] } }],
      ['reasoning_summary_part.added', { ...summary(0), part: summaries[0] }],
      ['reasoning_summary_text.delta', { ...summary(0), delta: 'on' }],
      ['reasoning_summary_text.delta', { ...summary(0), delta: 'e' }],
      ['reasoning_summary_text.done', { ...summary(0), text: 'one' }],
      ['reasoning_summary_text.delta', { ...summary(1), delta: 'two' }],
      ['output_item.done', { output_index: 0, item: { ...reasoningItem, encrypted_content: 'e' } }],
      ['output_text.delta', { ...place, output_index: 1, delta: 'a' }],
      completed,
    ),
    events: [
      start,
      { type: 'reasoning', text: 'on' },
      { type: 'reasoning', text: 'e' },
      { type: 'reasoning', text: '\n\ntwo' },
      {
        type: 'reasoning_end',
        format: 'responses',
        value: { id: 'rs_up', encrypted_content: 'e', summary: summaries },
      },
      text('a'),
      stop,
      usage(),
    ],
  },
  {
    name: 'the open text of a local model’s reasoning, and reasoning that nobody shows',
    body: stream(
      ...begin,
      ['reasoning_text.delta', { ...summary(0), delta: 'hm' }],
      [
        'output_item.done',
        {
          output_index: 0,
          item: {
            ...reasoningItem,
            summary: [],
            content: [{ type: 'reasoning_text', text: 'hm' }],
          },
        },
      ],
      ['output_item.done', { output_index: 1, item: { ...reasoningItem, summary: [] } }],
      completed,
    ),
    events: [
      start,
      { type: 'reasoning', text: 'hm' },
      {
        type: 'reasoning_end',
        format: 'responses',
        value: { content: [{ type: 'reasoning_text', text: 'hm' }], summary: [] },
      },
      stop,
      usage(),
    ],
  },
  {
    name: 'a call without arguments, and one whose arguments the ceiling left out',
    body: stream(
      ...begin,
      ['output_item.added', call(0, 'call_a', 'clock')],
      ['output_item.done', call(0, 'call_a', 'clock')],
      [
        'output_item.done',
        { output_index: 1, item: { ...call(1, 'call_b', 'clock').item, status: 'incomplete' } },
      ],
      completed,
    ),
    events: [
      start,
      { type: 'tool_call', index: 0, id: 'call_a', name: 'clock' },
      { type: 'tool_arguments', index: 0, text: '{}' },
      { type: 'tool_call', index: 1, id: 'call_b', name: 'clock' },
      { type: 'finish', reason: 'tool_calls' },
      usage(),
    ],
  },
  {
    name: 'two calls with one id',
    body: stream(
      ...begin,
      ['output_item.done', call(0, 'call_a', 'clock', '{}')],
      ['output_item.done', call(1, 'call_a', 'clock', '{}')],
      completed,
    ),
    events: [
      start,
      { type: 'tool_call', index: 0, id: 'call_a', name: 'clock' },
      { type: 'tool_arguments', index: 0, text: '{}' },
      { type: 'tool_call', index: 1, id: 'call_a_1', name: 'clock' },
      { type: 'tool_arguments', index: 1, text: '{}' },
      calls,
      usage(),
    ],
  },
  {
    name: 'calls in turns, told by their place, one of them only when it is done',
    body: stream(
      ...begin,
      ['output_item.added', call(0, 'call_a', 'weather')],
      fragment(0, '{"city":'),
      ['output_item.added', call(1, 'call_b', 'clock')],
      fragment(1, '{}'),
      fragment(0, '"Köln"}'),
      ['function_call_arguments.done', { output_index: 0, arguments: '{"city":"Köln"}' }],
      ['output_item.done', call(0, 'call_a', 'weather', '{"city":"Köln"}')],
      ['output_item.done', call(1, 'call_b', 'clock', '{}')],
      ['output_item.done', call(2, 'call_c', 'late', '{"x":1}')],
      completed,
    ),
    events: [
      start,
      { type: 'tool_call', index: 0, id: 'call_a', name: 'weather' },
      { type: 'tool_arguments', index: 0, text: '{"city":' },
      { type: 'tool_call', index: 1, id: 'call_b', name: 'clock' },
      { type: 'tool_arguments', index: 1, text: '{}' },
      { type: 'tool_arguments', index: 0, text: '"Köln"}' },
      { type: 'tool_call', index: 2, id: 'call_c', name: 'late' },
      { type: 'tool_arguments', index: 2, text: '{"x":1}' },
      calls,
      usage(),
    ],
  },
  {
    name: 'searches, counted without opened pages, then text with citations in its second part',
    body: stream(
      ...begin,
      ['output_item.added', { output_index: 0, item: { ...search, status: 'in_progress' } }],
      ['web_search_call.searching', { item_id: 'ws_up', output_index: 0 }],
      ['output_item.done', { output_index: 0, item: search }],
      ['output_item.done', { output_index: 1, item: opening }],
      ['output_text.delta', { ...place, output_index: 2, delta: 'first' }],
      ['output_text.delta', { ...place, output_index: 3, delta: 'second' }],
      [
        'output_text.annotation.added',
        { ...place, output_index: 3, annotation_index: 0, annotation: citation },
      ],
      ['output_text.annotation.added', { ...place, output_index: 3, annotation: { type: 'x' } }],
      completed,
    ),
    events: [
      start,
      { type: 'native', format: 'responses', value: search },
      { type: 'native', format: 'responses', value: opening },
      text('first'),
      text('second'),
      { type: 'citation', citation: { url: 'https://x.test', title: 'X', start: 6, end: 9 } },
      stop,
      usage(1),
    ],
  },
  {
    name: 'items without a neutral form that wait for the client; the server’s count of searches',
    body: stream(
      ...begin,
      ['output_item.done', { output_index: 0, item: patch }],
      [
        'output_item.done',
        { output_index: 1, item: { ...call(1, 'call_n', 'f', '{}').item, namespace: 'n' } },
      ],
      ['completed', response('completed', { tool_usage: { web_search: { num_requests: 3 } } })],
    ),
    events: [
      start,
      { type: 'tool_call', index: 0, id: 'a', name: 'patch', freeText: true },
      { type: 'tool_arguments', index: 0, text: 'x' },
      { type: 'tool_end', index: 0 },
      {
        type: 'native',
        format: 'responses',
        value: { ...call(1, 'call_n', 'f', '{}').item, namespace: 'n' },
      },
      calls,
      usage(3),
    ],
  },
  {
    name: 'a refusal, streamed, then one that is only done',
    body: stream(
      ...begin,
      ['refusal.delta', { ...place, delta: 'no' }],
      ['refusal.done', { ...place, refusal: 'no' }],
      ['refusal.done', { ...place, content_index: 1, refusal: '!' }],
      completed,
    ),
    events: [start, { type: 'refusal', text: 'no' }, { type: 'refusal', text: '!' }, stop, usage()],
  },
];

const serverError = { code: 'server_error', message: 'sorry' };

const endFixtures: Fixture[] = [
  {
    name: 'an answer that was cut, without usage',
    body: stream(...begin, ['incomplete', response('incomplete', { usage: null })]),
    events: [start, { type: 'finish', reason: 'length' }],
  },
  {
    name: 'an answer that was blocked',
    body: stream(...begin, [
      'incomplete',
      response('incomplete', { incomplete_details: { reason: 'content_filter' } }),
    ]),
    events: [start, { type: 'finish', reason: 'content_filter' }, usage()],
  },
  {
    name: 'a response that failed, with its usage',
    body: stream(...begin, ['failed', response('failed', { error: serverError })]),
    events: [start, usage(), failure('failed', 'server_error: sorry')],
  },
  {
    name: 'a flat error event, and nothing after it',
    body: stream(...begin, ['error', { ...serverError, param: null }], completed),
    events: [start, failure('failed', 'server_error: sorry')],
  },
  {
    name: 'a nested error event of a limit, as the first event',
    body: stream(['error', { error: { code: 'rate_limit_exceeded', message: 'slow' } }]),
    events: [failure('busy', 'rate_limit_exceeded: slow')],
  },
  {
    name: 'a request that is found to be at fault too late',
    body: stream(...begin, [
      'failed',
      response('failed', { usage: null, error: { code: 'invalid_prompt', message: 'x' } }),
    ]),
    events: [start, failure('rejected', 'invalid_prompt: x')],
  },
  {
    name: 'a JSON body with an error',
    body: JSON.stringify({ error: serverError }),
    events: [failure('failed', 'server_error: sorry')],
  },
  {
    name: 'an event that is no JSON',
    body: `${stream(...begin)}event: response.output_text.delta\ndata: {"type":"respo\n\n`,
    events: [start, failure('garbage', 'not an event: {"type":"respo')],
  },
  {
    name: 'an end without its terminal event',
    body: stream(...begin, delta('a') as [string, Record<string, unknown>]),
    events: [start, text('a'), failure('cut', 'the body ended before the answer did')],
  },
  {
    name: 'explicit zeros are a report',
    body: stream(...begin, [
      'completed',
      response('completed', { usage: { input_tokens: 0, output_tokens: 0 } }),
    ]),
    events: [
      start,
      stop,
      {
        type: 'usage',
        usage: {
          inputTokens: 0,
          cachedInputTokens: 0,
          cacheWriteTokens: 0,
          outputTokens: 0,
          reasoningTokens: 0,
          searchCalls: 0,
        },
      },
    ],
  },
];

export const fixtures: readonly Fixture[] = [...textFixtures, ...itemFixtures, ...endFixtures];
