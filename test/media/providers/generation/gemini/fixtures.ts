// Streams as the Gemini API sends them, written from the published types of its vendor's client and
// from reports (not recorded from the provider), and the events that they must give.
import type { ModelEvent } from '../../../../../media/model/events.ts';
import type { TokenUsage } from '../../../../../media/model/usage.ts';
import type { Fixture } from '../../../transport/in-pieces.ts';

type Members = Record<string, unknown>;

/** The prefix of ids that the tests give to calls without one. */
export const madeId = 'made_';

const tail = { modelVersion: 'm-1', responseId: 'r-1' };

/** One event; the real API ends its lines with carriage returns. */
export function chunk(parts: unknown[], candidate: Members = {}, more: Members = {}): string {
  const content = { parts, role: 'model' };
  return event({ candidates: [{ content, ...candidate, index: 0 }], ...more, ...tail });
}

export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}

const start: ModelEvent = { type: 'start' };
const stop: ModelEvent = { type: 'finish', reason: 'stop' };
const calls: ModelEvent = { type: 'finish', reason: 'tool_calls' };
const filtered: ModelEvent = { type: 'finish', reason: 'content_filter' };

function text(value: string, plain = true): ModelEvent {
  return { type: 'text', text: value, plain };
}

function usage(change: Partial<TokenUsage>): ModelEvent {
  const none = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
  return { type: 'usage', usage: { ...none, reasoningTokens: 0, searchCalls: 0, ...change } };
}

function call(index: number, id: string, name: string): ModelEvent {
  return { type: 'tool_call', index, id, name };
}

function args(index: number, value: string): ModelEvent {
  return { type: 'tool_arguments', index, text: value };
}

const stopped = { finishReason: 'STOP' };

const textFixtures: Fixture[] = [
  {
    name: 'the common stream, with characters of two to four bytes, escapes and growing usage',
    body: [
      chunk([{ text: ' Grüße' }], {}, { usageMetadata: { promptTokenCount: 5 } }),
      ...[' 漢字', ' 🙂', ' say "hi"\n', ' back\\slash', '\u2028', ' end'].map((piece) =>
        chunk([{ text: piece }]),
      ),
      chunk([{ text: '' }], stopped, {
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 },
      }),
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
      usage({ inputTokens: 5, outputTokens: 7 }),
      stop,
    ],
  },
  {
    name: 'usage in every event, reported once for each change that counts output',
    body: [
      chunk([{ text: 'a' }], {}, { usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 } }),
      chunk(
        [{ text: 'b' }],
        {},
        { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 } },
      ),
      chunk(
        [{ text: 'c' }],
        {},
        { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 } },
      ),
      chunk(
        [],
        { finishReason: 'MAX_TOKENS' },
        {
          usageMetadata: {
            promptTokenCount: 30,
            cachedContentTokenCount: 20,
            toolUsePromptTokenCount: 4,
            candidatesTokenCount: 6,
            thoughtsTokenCount: 9,
            totalTokenCount: 49,
          },
        },
      ),
    ].join(''),
    events: [
      start,
      text('a'),
      text('b'),
      usage({ inputTokens: 3, outputTokens: 1 }),
      text('c'),
      usage({ inputTokens: 14, cachedInputTokens: 20, outputTokens: 6, reasoningTokens: 9 }),
      { type: 'finish', reason: 'length' },
    ],
  },
  {
    name: 'STOP in every event, usage after it, an answer without content, unknown members',
    body: [
      chunk([{ text: 'a', brandNew: [1] }], stopped, { x: { y: 'a' } }),
      event({ candidates: [{ content: { role: 'model' }, finishReason: 'STOP' }] }),
      event({ usageMetadata: { promptTokenCount: 1, totalTokenCount: 1 } }),
      event({ sim: 'unknown' }),
      ': a comment\r\n\r\nevent: other\r\ndata: {"z":1}\r\n\r\n',
    ].join(''),
    events: [start, text('a'), usage({ inputTokens: 1 }), stop],
  },
  {
    name: 'thoughts, signatures, other candidates, parts without a neutral form',
    body: [
      chunk([{ text: '**Plan** ', thought: true }]),
      chunk([{ text: 'more', thought: true, thoughtSignature: 'AAAA' }]),
      event({
        candidates: [
          { content: { parts: [{ text: 'no' }] }, index: 1 },
          { content: { parts: [{ text: 'yes' }] } },
        ],
      }),
      chunk([{ executableCode: { code: '1' } }, { inlineData: { data: 'AA' } }, { text: '!' }]),
      chunk([{ text: '', thoughtSignature: 'BBBB' }], { finishReason: 'OTHER' }),
    ].join(''),
    events: [
      start,
      { type: 'reasoning', text: '**Plan** ' },
      { type: 'reasoning', text: 'more' },
      text('yes'),
      { type: 'unread', part: 'executableCode' },
      { type: 'unread', part: 'inlineData' },
      text('!'),
      { type: 'finish', reason: 'length' },
    ],
  },
];

const toolFixtures: Fixture[] = [
  {
    name: 'parallel calls: one signed, one with an id, one with the same id, one without arguments',
    body: [
      chunk([
        { text: 'I look. ' },
        { functionCall: { name: 'f', args: { x: 'ü', n: [1] } }, thoughtSignature: 'c2lnbmVk' },
      ]),
      chunk([{ functionCall: { id: 'a1', name: 'g', args: {} } }]),
      chunk([{ functionCall: { id: 'a1', name: 'g', args: {} } }, { functionCall: { name: 'h' } }]),
      chunk([{ functionCall: { partialArgs: [] } }], stopped),
    ].join(''),
    events: [
      start,
      text('I look. '),
      call(0, 'made_0__sig8s_c2lnbmVk', 'f'),
      args(0, '{"x":"ü","n":[1]}'),
      call(1, 'a1', 'g'),
      args(1, '{}'),
      call(2, 'made_2', 'g'),
      args(2, '{}'),
      call(3, 'made_3', 'h'),
      args(3, '{}'),
      calls,
    ],
  },
];

const sources = [
  { web: { uri: 'https://one.example/a', title: 'One' } },
  { web: { uri: 'https://two.example/', title: 'Two' } },
  { maps: { uri: 'https://maps.example/' } },
];

function support(segment: Members, ...indices: number[]): Members {
  return { segment, groundingChunkIndices: indices };
}

function cited(url: string, title: string, start: number | null, end: number | null): ModelEvent {
  return { type: 'citation', citation: { url, title, start, end } };
}

const groundingFixtures: Fixture[] = [
  {
    name: 'grounding: positions in bytes, repeated metadata, searches counted once',
    body: [
      chunk([{ text: 'Zürich 🙂 ok. ' }]),
      chunk([{ text: 'Plain end.' }], {
        groundingMetadata: {
          webSearchQueries: ['a', '', 'b'],
          groundingChunks: sources,
          groundingSupports: [support({ endIndex: 7 }, 0)],
        },
      }),
      chunk(
        [],
        {
          finishReason: 'STOP',
          groundingMetadata: {
            webSearchQueries: ['b', 'a'],
            groundingSupports: [
              support({ endIndex: 7 }, 0),
              support({ startIndex: 8, endIndex: 16 }, 1, 0, 2, 9),
              support({ startIndex: 17, endIndex: 27 }, 1),
              support({ startIndex: 17, endIndex: 99 }, 1),
            ],
          },
        },
        { usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 3 } },
      ),
    ].join(''),
    events: [
      start,
      text('Zürich 🙂 ok. '),
      text('Plain end.'),
      cited('https://one.example/a', 'One', 0, 6),
      cited('https://two.example/', 'Two', 7, 13),
      cited('https://one.example/a', 'One', 7, 13),
      cited('https://two.example/', 'Two', 14, 24),
      cited('https://two.example/', 'Two', null, null),
      usage({ inputTokens: 2, outputTokens: 3, searchCalls: 2 }),
      stop,
    ],
  },
  {
    name: 'sources that nothing refers to, and a quotation',
    body: [
      chunk([{ text: 'abc' }], { groundingMetadata: { groundingChunks: sources } }),
      chunk([], stopped),
    ].join(''),
    events: [
      start,
      text('abc'),
      cited('https://one.example/a', 'One', null, null),
      cited('https://two.example/', 'Two', null, null),
      stop,
    ],
  },
  {
    name: 'a quotation',
    body: [
      chunk([{ text: 'abc' }], {
        citationMetadata: {
          citations: [{ startIndex: 1, endIndex: 3, uri: 'https://q.example/' }],
        },
        ...stopped,
      }),
    ].join(''),
    events: [start, text('abc'), cited('https://q.example/', '', 1, 3), stop],
  },
];

function failed(
  detail: string,
  kind: 'failed' | 'garbage' | 'cut' | 'busy',
  status: number | null = null,
  retryAfterMs: number | null = null,
): ModelEvent {
  return { type: 'failure', failure: { kind, status, retryAfterMs, detail } };
}

const overloaded = { error: { code: 503, message: 'The model is busy.', status: 'UNAVAILABLE' } };

const endFixtures: Fixture[] = [
  {
    name: 'a filtered answer',
    body: chunk([{ text: 'a' }]) + event({ candidates: [{ finishReason: 'SAFETY', index: 0 }] }),
    events: [start, text('a'), filtered],
  },
  {
    name: 'a refused prompt',
    body: event({
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
      ...tail,
    }),
    events: [start, usage({ inputTokens: 4 }), filtered],
  },
  {
    name: 'a call that the model wrote badly: usage first, then the failure',
    body: event({
      candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(', index: 0 }],
      usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
    }),
    events: [
      start,
      usage({ inputTokens: 4 }),
      failed('the answer ended with MALFORMED_FUNCTION_CALL', 'cut'),
    ],
  },
  {
    name: 'an error event in the middle',
    body: chunk([{ text: 'a' }]) + event(overloaded) + chunk([{ text: 'b' }], stopped),
    events: [start, text('a'), failed('UNAVAILABLE: 503: The model is busy.', 'failed', 503)],
  },
  {
    name: 'an error in the middle as JSON that is no event',
    body: chunk([{ text: 'a' }]) + JSON.stringify(overloaded, null, 2),
    events: [start, text('a'), failed('UNAVAILABLE: 503: The model is busy.', 'failed', 503)],
  },
  {
    name: 'a line that is no JSON',
    body: `${chunk([{ text: 'a' }])}data: {"candidates":[{"con\r\n\r\n`,
    events: [start, text('a'), failed('not an event: {"candidates":[{"con', 'garbage')],
  },
  {
    name: 'a body that ends before the answer',
    body: chunk([{ text: 'a' }]) + chunk([{ text: 'b' }], stopped).slice(0, -2),
    events: [start, text('a'), failed('the body ended before the answer did', 'cut')],
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

const exhausted = {
  error: {
    code: 429,
    message: 'Quota.',
    status: 'RESOURCE_EXHAUSTED',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.5s' }],
  },
};

const wholeFixtures: Fixture[] = [
  {
    name: 'a list of events from a server that knows no event stream',
    body: JSON.stringify(
      [
        { candidates: [{ content: { parts: [{ text: 'Grüße ' }] } }] },
        { candidates: [{ content: { parts: [{ text: '🙂' }] }, finishReason: 'STOP' }] },
      ],
      null,
      2,
    ),
    events: [start, text('Grüße '), text('🙂'), stop],
  },
  {
    name: 'one plain answer',
    body: ` \n${JSON.stringify({
      candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
    })}\n`,
    events: [start, text('a'), usage({ inputTokens: 1, outputTokens: 1 }), stop],
  },
  {
    name: 'an error with status 200, in a list',
    body: JSON.stringify([exhausted]),
    events: [failed('RESOURCE_EXHAUSTED: 429: Quota.', 'busy', 429, 1500)],
  },
  {
    name: 'half a list',
    body: '[{"candidates":[{"content":',
    events: [failed('the JSON body is not complete', 'cut')],
  },
  {
    name: 'JSON of something else',
    body: '{"hello":1}',
    events: [failed('the JSON is no answer', 'garbage')],
  },
];

export const fixtures: Fixture[] = [
  ...textFixtures,
  ...toolFixtures,
  ...groundingFixtures,
  ...endFixtures,
  ...wholeFixtures,
];
