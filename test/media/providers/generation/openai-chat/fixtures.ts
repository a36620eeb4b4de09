// Streams as servers of this family send them, written from their published types and reports (not
// recorded from a provider), and the events that they must give.
import type { ModelEvent } from '../../../../../media/model/events.ts';
import type { Fixture } from '../../../transport/in-pieces.ts';

const head = '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m"';

export function chunk(delta: unknown, reason: string | null = null, more = ''): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason: reason };
  return `data: {${head},"choices":[${JSON.stringify(choice)}]${more}}\n\n`;
}

const done = 'data: [DONE]\n\n';
const start: ModelEvent = { type: 'start' };
const stop: ModelEvent = { type: 'finish', reason: 'stop' };
const calls: ModelEvent = { type: 'finish', reason: 'tool_calls' };

function text(value: string, plain = true): ModelEvent {
  return { type: 'text', text: value, plain };
}

function usage(inputTokens: number, outputTokens: number): ModelEvent {
  const zero = { cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, searchCalls: 0 };
  return { type: 'usage', usage: { inputTokens, outputTokens, ...zero } };
}

function toolChunk(...fragments: unknown[]): string {
  return chunk({ tool_calls: fragments });
}

function call(index: number, id: string, name: string): ModelEvent {
  return { type: 'tool_call', index, id, name };
}

function args(index: number, value: string): ModelEvent {
  return { type: 'tool_arguments', index, text: value };
}

const textFixtures: Fixture[] = [
  {
    name: 'the common stream, with characters of two to four bytes and with escapes',
    body: [
      chunk({ role: 'assistant', content: '', refusal: null }, null, ',"usage":null'),
      ...[' Grüße', ' 漢字', ' 🙂', ' say "hi"\n', ' back\\slash', '\u2028', ' end'].map((piece) =>
        chunk({ content: piece }, null, ',"usage":null'),
      ),
      chunk({}, 'stop', ',"usage":null'),
      `data: {${head},"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n`,
      done,
    ].join(''),
    events: [
      start,
      text(' Grüße'),
      text(' 漢字'),
      text(' 🙂'),
      text(' say "hi"\n', false),
      text(' back\\slash', false),
      text('\u2028'),
      text(' end'),
      stop,
      usage(5, 7),
    ],
  },
  {
    name: 'carriage returns, comments, a byte order mark, data over several lines, other fields',
    body: [
      '\ufeff: hello\r\n\r\nid: 1\r\nevent: message\r\n',
      `data: {${head},\r\ndata: "choices":[{"delta":{"content":"a"}}]}\r\n\r\n: keep-alive\r\r`,
      'data:{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}\r\r',
      `: x\n\nretry: 5\n\n${done}`,
    ].join(''),
    events: [start, text('a'), text('b'), stop],
  },
  {
    name: 'a text that also stands elsewhere in its event, where it changes',
    body: [
      ...['a', 'a', 'b', 'a'].map(
        (id) => `data: {"id":"${id}","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n`,
      ),
      done,
    ].join(''),
    events: [start, text('a'), text('a'), text('a'), text('a'), stop],
  },
  {
    name: 'usage in the last content chunk, no final chunk, finish_reason never set',
    body:
      chunk({ content: 'a' }) +
      chunk({ content: 'b' }, null, ',"usage":{"prompt_tokens":1,"completion_tokens":2}') +
      done,
    events: [start, text('a'), text('b'), usage(1, 2), stop],
  },
  {
    name: 'cumulative usage on every chunk, reported once for each change',
    body:
      chunk({ content: 'a' }, null, ',"usage":{"prompt_tokens":1,"completion_tokens":1}') +
      chunk({ content: 'b' }, null, ',"usage":{"prompt_tokens":1,"completion_tokens":2}') +
      chunk({}, 'length', ',"usage":{"prompt_tokens":1,"completion_tokens":2}') +
      done,
    events: [
      start,
      text('a'),
      usage(1, 1),
      text('b'),
      usage(1, 2),
      { type: 'finish', reason: 'length' },
    ],
  },
  {
    name: 'other choices, unknown members, logprobs, reasoning, refusal',
    body:
      'data: {"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,' +
      '"delta":{"content":"yes"},"logprobs":{"content":[]}}],"x":{"y":1}}\n\n' +
      chunk({ reasoning_content: 'r1' }) +
      chunk({ reasoning: 'r2', note: [1] }) +
      chunk({ refusal: 'never' }) +
      chunk({}, 'content_filter') +
      done,
    events: [
      start,
      text('yes'),
      { type: 'extra', format: 'chat', delta: {}, choice: { logprobs: { content: [] } } },
      { type: 'reasoning', text: 'r1' },
      { type: 'reasoning', text: 'r2', member: 'reasoning' },
      { type: 'extra', format: 'chat', delta: { note: [1] }, choice: {} },
      { type: 'refusal', text: 'never' },
      { type: 'finish', reason: 'content_filter' },
    ],
  },
];

/** vLLM's `stop_reason` stands in every chunk, SGLang's `matched_stop` in the last. */
const told: [name: string, member: string, value: unknown, sequence: string | null][] = [
  ['the stop sequence as vLLM tells it', 'stop_reason', '\nObservation:', '\nObservation:'],
  ['the stop sequence as SGLang tells it', 'matched_stop', 'END', 'END'],
  ['a token that ended the answer', 'stop_reason', 151_645, null],
  ['an empty stop sequence', 'matched_stop', '', null],
];
const stopFixtures: Fixture[] = told.map(([name, member, value, stopSequence]) => {
  const ofServer = (delta: unknown, reason: string | null, said: unknown) => {
    const choice = { index: 0, delta, finish_reason: reason, [member]: said };
    return `data: {${head},"choices":[${JSON.stringify(choice)}]}\n\n`;
  };
  const extra: ModelEvent = {
    type: 'extra',
    format: 'chat',
    delta: {},
    choice: { [member]: value },
  };
  return {
    name,
    body: ofServer({ content: 'a' }, null, null) + ofServer({}, 'stop', value) + done,
    events: [
      start,
      text('a'),
      extra,
      stopSequence === null ? stop : { type: 'finish', reason: 'stop', stopSequence },
    ],
  };
});

const toolFixtures: Fixture[] = [
  {
    name: 'two tool calls, interleaved',
    body: [
      toolChunk({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      toolChunk({ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }),
      toolChunk({ index: 1, function: { arguments: '{"x"' } }),
      toolChunk(
        { index: 0, function: { arguments: '{' } },
        { index: 1, function: { arguments: ':1}' } },
      ),
      toolChunk({ index: 0, function: { arguments: '}' } }),
      chunk({}, 'tool_calls'),
      done,
    ].join(''),
    events: [
      start,
      call(0, 'a', 'f'),
      call(1, 'b', 'g'),
      args(1, '{"x"'),
      args(0, '{'),
      args(1, ':1}'),
      args(0, '}'),
      calls,
    ],
  },
  {
    name: 'every call at index 0, ids repeated with every fragment, whole calls in one chunk',
    body: [
      toolChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
      toolChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '}' } }),
      toolChunk({ index: 0, id: 'b', function: { name: 'g', arguments: '{}' } }),
      chunk({}, 'tool_calls'),
      done,
    ].join(''),
    events: [
      start,
      call(0, 'a', 'f'),
      args(0, '{'),
      args(0, '}'),
      call(1, 'b', 'g'),
      args(1, '{}'),
      calls,
    ],
  },
  {
    name: 'calls of one answer with the same id',
    body: [
      toolChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
      toolChunk({ index: 1, id: 'a', function: { name: 'f', arguments: '{"x":1}' } }),
      toolChunk({ index: 0, id: 'a', function: { arguments: '{}' } }),
      toolChunk({ index: 2, id: 'a_2', function: { name: 'f', arguments: '{}' } }),
      toolChunk({ index: 3, id: 'a', function: { name: 'g', arguments: '{}' } }),
      chunk({}, 'tool_calls'),
      done,
    ].join(''),
    events: [
      start,
      call(0, 'a', 'f'),
      call(1, 'a_1', 'f'),
      args(1, '{"x":1}'),
      args(0, '{}'),
      call(2, 'a_2', 'f'),
      args(2, '{}'),
      call(3, 'a_3', 'g'),
      args(3, '{}'),
      calls,
    ],
  },
  {
    name: 'no index, a name in fragments, no id, no arguments, an object as arguments',
    body: [
      toolChunk({ id: 'a', function: { name: 'get_' } }),
      toolChunk({ function: { name: 'weather' } }),
      toolChunk({ function: { arguments: '{}' } }),
      toolChunk({ id: 'b', function: { name: 'g', arguments: { x: 1 } } }),
      toolChunk({ index: 5, function: { name: 'h' } }),
      chunk({}, 'tool_calls'),
      done,
    ].join(''),
    events: [
      start,
      call(0, 'a', 'get_weather'),
      args(0, '{}'),
      call(1, 'b', 'g'),
      args(1, '{"x":1}'),
      call(2, 'call_chatcmpl-1_2', 'h'),
      args(2, '{}'),
      calls,
    ],
  },
  {
    name: 'a call that was forced by its name, which the vendor ends with stop',
    body: [
      toolChunk({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }),
      chunk({}, 'stop'),
      done,
    ].join(''),
    events: [start, call(0, 'a', 'f'), args(0, '{}'), calls],
  },
  {
    name: 'a call whose arguments the ceiling left out',
    body: [
      toolChunk({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      chunk({}, 'length'),
      done,
    ].join(''),
    events: [start, call(0, 'a', 'f'), { type: 'finish', reason: 'length' }],
  },
  {
    name: 'the old function_call form',
    body: [
      chunk({ function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { arguments: '{}' } }),
      chunk({}, 'function_call'),
      done,
    ].join(''),
    events: [start, call(0, 'call_chatcmpl-1_0', 'f'), args(0, '{}'), calls],
  },
];

function failed(
  detail: string,
  kind: 'failed' | 'garbage' | 'cut' | 'busy' | 'rejected',
  status: number | null = null,
) {
  const failure = { kind, status, retryAfterMs: null, detail };
  return { type: 'failure' as const, failure };
}

const failureFixtures: Fixture[] = [
  {
    name: 'an error event in the middle',
    body: [
      chunk({ content: 'a' }),
      'data: {"error":{"message":"boom","type":"server_error","code":503}}\n\n',
      chunk({ content: 'b' }),
      done,
    ].join(''),
    events: [start, text('a'), failed('server_error: 503: boom', 'failed', 503)],
  },
  {
    name: 'the status that an error in a stream would have had before it',
    body: 'data: {"error":{"message":"slow down","code":429}}\n\n',
    events: [failed('429: slow down', 'busy', 429)],
  },
  {
    name: 'a refusal of the request after the head',
    body: `${chunk({ role: 'assistant' })}data: {"error":{"message":"long","code":400}}\n\n`,
    events: [start, failed('400: long', 'rejected', 400)],
  },
  {
    name: 'the vendor’s word for a rate limit',
    body: 'data: {"error":{"type":"requests","code":"rate_limit_exceeded"}}\n\n',
    events: [failed('requests: rate_limit_exceeded', 'busy')],
  },
  {
    name: 'an event named error',
    body: `${chunk({ content: 'a' })}event: error\ndata: {"message":"boom"}\n\n`,
    events: [start, text('a'), failed('boom', 'failed')],
  },
  {
    name: 'a line that is no JSON',
    body: `${chunk({ content: 'a' })}data: {"choices":[{"del\n\n${done}`,
    events: [start, text('a'), failed('not a chunk: {"choices":[{"del', 'garbage')],
  },
  {
    name: 'a body that ends before the answer',
    body: chunk({ content: 'a' }) + chunk({ content: 'b' }).slice(0, -1),
    events: [start, text('a'), failed('the body ended before the answer did', 'cut')],
  },
  {
    name: 'a body without the terminator, but with a finish reason',
    body: chunk({ content: 'a' }) + chunk({}, 'stop'),
    events: [start, text('a'), stop],
  },
  {
    name: 'only the terminator',
    body: done,
    events: [failed('terminator without an answer', 'garbage')],
  },
  {
    name: 'an empty body',
    body: '',
    events: [failed('the body ended before the answer did', 'cut')],
  },
  {
    name: 'a web page',
    body: '<html><body>502 Bad Gateway</body></html>',
    events: [failed('the body ended before the answer did', 'cut')],
  },
];

const wholeFixtures: Fixture[] = [
  {
    name: 'a plain JSON completion from a server that ignores stream',
    body: ` \n${JSON.stringify(
      {
        id: 'x',
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: 'Grüße 🙂',
              tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      },
      null,
      2,
    )}\n`,
    events: [start, text('Grüße 🙂'), call(0, 'a', 'f'), args(0, '{}'), calls, usage(3, 4)],
  },
  {
    name: 'a JSON error with status 200',
    body: '{"error":"out of memory"}',
    events: [failed('out of memory', 'failed')],
  },
  {
    name: 'half a JSON completion',
    body: '{"choices":[{"message":',
    events: [failed('the JSON body is not complete', 'cut')],
  },
];

export const fixtures: Fixture[] = [
  ...textFixtures,
  ...stopFixtures,
  ...toolFixtures,
  ...failureFixtures,
  ...wholeFixtures,
];
