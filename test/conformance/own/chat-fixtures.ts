// Answers of Chat Completions providers with what only this format has: the vendor's own by its
// published types, those of compatible servers as their documentation shows them.
import type OpenAI from 'openai';

export interface ChatFixture {
  name: string;
  /** `message`, and what stands beside it. */
  choice: Members;
  /** As they are streamed, after the one with the role. */
  deltas: Members[];
  /** What stands beside the delta of the same place. */
  beside?: Members[];
}

export type Members = Record<string, unknown>;

function words(text: string, member = 'content'): Members[] {
  const half = Math.ceil(text.length / 2);
  return [{ [member]: text.slice(0, half) }, { [member]: text.slice(half) }];
}

function choiceOf(message: Members, finish_reason = 'stop', beside: Members = {}): Members {
  return { index: 0, message: { role: 'assistant', ...message }, finish_reason, ...beside };
}

function logprob(token: string, value: number): OpenAI.ChatCompletionTokenLogprob {
  const bytes = [...Buffer.from(token)];
  return { token, bytes, logprob: value, top_logprobs: [{ token, bytes, logprob: value }] };
}

const scored = [logprob('hi t', -0.1), logprob('here', -2)];
const annotations: OpenAI.ChatCompletionMessage.Annotation[] = [
  {
    type: 'url_citation',
    url_citation: { url: 'https://sky.test/', title: 'Sky', start_index: 0, end_index: 3 },
  },
];
const custom: OpenAI.ChatCompletionMessageCustomToolCall = {
  id: 'call_1',
  type: 'custom',
  custom: { name: 'grep', input: 'a "b"\n' },
};
const called: OpenAI.ChatCompletionMessageFunctionToolCall = {
  id: 'call_2',
  type: 'function',
  function: { name: 'find', arguments: '{"city":"Zürich"}' },
};
const signed = {
  ...called,
  extra_content: { google: { thought_signature: 'c2lnbmVk' } },
};

const vendors: ChatFixture[] = [
  {
    name: 'logprobs of a text',
    choice: choiceOf({ content: 'hi there' }, 'stop', { logprobs: { content: scored } }),
    deltas: [{ content: 'hi t' }, { content: 'here' }],
    beside: scored.map((entry) => ({ logprobs: { content: [entry] } })),
  },
  {
    name: 'a refusal',
    choice: choiceOf({ content: null, refusal: 'Not that.' }),
    deltas: words('Not that.', 'refusal'),
  },
  {
    name: 'a search with its sources',
    choice: choiceOf({ content: 'Blue.', annotations }),
    deltas: [...words('Blue.'), { annotations }],
  },
  {
    name: 'custom tools and functions, called in parallel',
    choice: choiceOf({ content: null, tool_calls: [custom, called] }, 'tool_calls'),
    deltas: [
      { tool_calls: [{ index: 0, ...custom, custom: { name: 'grep', input: '' } }] },
      ...['a "', 'b"\n'].map((input) => ({ tool_calls: [{ index: 0, custom: { input } }] })),
      { tool_calls: [{ index: 1, ...called, function: { name: 'find', arguments: '' } }] },
      ...['{"city":', '"Zürich"}'].map((text) => ({
        tool_calls: [{ index: 1, function: { arguments: text } }],
      })),
    ],
  },
];

const thought = {
  type: 'reasoning.text',
  format: 'anthropic-claude-v1',
  index: 0,
  text: 'I think.',
  signature: 'c2ln',
};

const compatible: ChatFixture[] = [
  {
    name: 'calls with what the server wants back',
    choice: choiceOf({ content: null, tool_calls: [signed] }, 'tool_calls'),
    deltas: [{ tool_calls: [{ index: 0, ...signed }] }],
  },
  {
    name: 'reasoning_content and a call',
    choice: choiceOf(
      { content: 'I look.', reasoning_content: 'Where?', tool_calls: [called] },
      'tool_calls',
    ),
    deltas: [
      ...words('Where?', 'reasoning_content'),
      ...words('I look.'),
      { tool_calls: [{ index: 0, ...called }] },
    ],
  },
  {
    name: 'reasoning with its details',
    choice: choiceOf({ content: 'So.', reasoning: 'I think.', reasoning_details: [thought] }),
    deltas: [
      ...words('I think.', 'reasoning').map(({ reasoning }) => ({
        reasoning,
        reasoning_details: [
          { type: thought.type, format: thought.format, index: 0, text: reasoning },
        ],
      })),
      {
        reasoning_details: [
          { type: thought.type, format: thought.format, index: 0, signature: 'c2ln' },
        ],
      },
      ...words('So.'),
    ],
  },
  {
    name: 'images',
    choice: choiceOf({
      content: 'A cat.',
      images: [{ type: 'image_url', index: 0, image_url: { url: 'data:image/png;base64,aW0=' } }],
    }),
    deltas: [
      ...words('A cat.'),
      {
        images: [{ type: 'image_url', index: 0, image_url: { url: 'data:image/png;base64,aW0=' } }],
      },
    ],
  },
];

export const chatFixtures: readonly ChatFixture[] = [...vendors, ...compatible];
