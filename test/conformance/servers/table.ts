// Servers that speak Chat Completions in words of their own. A row says what one adds to its turns,
// wants back with them, and refuses. All play one task: the model thinks, calls `look`, gets the
// result, and says `done`.
type Members = Record<string, unknown>;

export interface ServerRow {
  name: string;
  /** Where its public documentation, or a report, says so. */
  source: string;
  /** The deltas of its first turn, in order. A whole answer is all of them joined. */
  deltas: readonly Members[];
  /** Why it refuses the turn that it gets back, an assistant's message; null: it does not. */
  wants(turn: Members): string | null;
  /** Why it refuses a request as a whole, whatever its turns; null: it does not. */
  refuses?(body: Members): string | null;
  /** The error that goes with a refusal; the usual object if left out. */
  error?(message: string): unknown;
  /** What a client of another format is shown of the thoughts. */
  shown: string;
}

/** The call that every row makes, in one piece or in two. */
function called(
  beside: Members = {},
  pieces: readonly string[] = ['{"at":', '"sea"}'],
  id = 'call_1',
): Members[] {
  const [first = '', ...others] = pieces;
  const begun = { name: 'look', arguments: first };
  return [
    { tool_calls: [{ index: 0, id, type: 'function', function: begun, ...beside }] },
    ...others.map((text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
  ];
}

const thoughts = ['I should', ' look "there"\n', 'first. 😀'];
const thought = thoughts.join('');

/** The thoughts, in a member of the delta. */
function thinking(member: string): Members[] {
  return thoughts.map((text) => ({ [member]: text }));
}

/** The same member with the same text, with a turn that has calls. */
function wantsBack(member: string, text: string, refusal: string) {
  return (turn: Members) =>
    Array.isArray(turn.tool_calls) && turn[member] !== text ? refusal : null;
}

const deepseekRefusal =
  'The `reasoning_content` in the thinking mode must be passed back to the API.';
const kimiRefusal =
  'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1';
const claude = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 };
/** Longer than some servers take an id of a call: this one gave it itself. */
const longId = 'tool_0_look_0123456789abcdef0123456789abcdef01';
const encrypted = {
  type: 'reasoning.encrypted',
  data: 'CkgB3Q+/encrypted==',
  id: longId,
  format: 'google-gemini-v1',
  index: 0,
};
const geminiRefusal = 'Function call is missing a thought_signature in functionCall parts.';
const signed = { google: { thought_signature: 'CrICAdHtim827fQ+/a=' } };

/** Whether both say the same, in whatever order their members stand. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)]);
}

export const servers: readonly ServerRow[] = [
  {
    name: 'deepseek',
    source: 'https://api-docs.deepseek.com/guides/thinking_mode',
    deltas: [
      { role: 'assistant', content: null, reasoning_content: '' },
      ...thinking('reasoning_content'),
      { content: 'Wait. ', reasoning_content: null },
      ...called(),
    ],
    wants: wantsBack('reasoning_content', thought, deepseekRefusal),
    shown: thought,
  },
  {
    // It wants the member back where it was empty, too.
    name: 'deepseek without thoughts',
    source: 'https://github.com/deepseek-ai/deepseek-harness/discussions/1850',
    deltas: [{ role: 'assistant', content: null, reasoning_content: '' }, ...called()],
    wants: wantsBack('reasoning_content', '', deepseekRefusal),
    shown: '',
  },
  {
    name: 'kimi',
    source: 'https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model',
    deltas: [{ role: 'assistant', content: '' }, ...thinking('reasoning_content'), ...called()],
    wants: wantsBack('reasoning_content', thought, kimiRefusal),
    error: (message) => ({ error: { message, type: 'invalid_request_error' } }),
    shown: thought,
  },
  {
    // Servers of open models call it so, and think again between words and a call.
    name: 'reasoning in two parts',
    source: 'https://docs.vllm.ai/en/latest/features/reasoning_outputs/',
    deltas: [
      { role: 'assistant', content: '' },
      { reasoning: 'one' },
      { content: 'So. ' },
      { reasoning: ' two' },
      ...called(),
    ],
    wants: wantsBack('reasoning', 'one two', 'the reasoning differs'),
    shown: 'one two',
  },
  {
    name: 'openrouter, a model that signs',
    source: 'https://openrouter.ai/docs/guides/best-practices/reasoning-tokens',
    deltas: [
      { role: 'assistant', content: '' },
      ...thoughts.map((text) => ({ reasoning: text, reasoning_details: [{ ...claude, text }] })),
      { reasoning_details: [{ ...claude, signature: 'EqQBCkYIBxgCKkB+/=' }] },
      { content: 'Wait. ' },
      ...called(),
    ],
    wants: ({ reasoning_details: details }) => {
      const wanted = [{ ...claude, text: thought, signature: 'EqQBCkYIBxgCKkB+/=' }];
      return isSame(details, wanted) ? null : 'Invalid signature in thinking block';
    },
    shown: thought,
  },
  {
    // The detail comes with the call, and names it. There is nothing to be shown.
    name: 'openrouter, a model that encrypts',
    source: 'https://openrouter.ai/docs/guides/best-practices/reasoning-tokens',
    deltas: [
      { role: 'assistant', content: '' },
      ...called({}, ['{"at":"sea"}'], longId).map((delta) => ({
        ...delta,
        reasoning_details: [encrypted],
      })),
    ],
    wants: ({ reasoning_details: details, tool_calls: calls }) => {
      const [call] = Array.isArray(calls) ? (calls as Members[]) : [];
      const isNamed = isSame(details, [encrypted]) && call?.id === longId;
      return isNamed ? null : 'missing a thought_signature';
    },
    shown: '',
  },
  {
    // The first of calls in parallel is signed.
    name: 'gemini',
    source: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
    deltas: [
      ...called({ extra_content: signed }, ['{"at":"sea"}']),
      {
        tool_calls: [
          {
            index: 1,
            id: 'call_2',
            type: 'function',
            function: { name: 'look', arguments: '{"at":"land"}' },
          },
        ],
      },
    ],
    wants: ({ tool_calls: calls }) => {
      const [first, second] = Array.isArray(calls) ? (calls as Members[]) : [];
      const isWhole = isSame(first?.extra_content, signed) && !('extra_content' in (second ?? {}));
      return isWhole ? null : geminiRefusal;
    },
    error: (message) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
    shown: '',
  },
  {
    // A gateway in front of such a model: the function in the call is signed.
    name: 'a signed function',
    source: 'https://docs.litellm.ai/docs/providers/gemini',
    deltas: [
      { role: 'assistant', content: null },
      {
        tool_calls: [
          {
            index: 0,
            id: 'call_1',
            type: 'function',
            function: { name: 'look', arguments: '{}', thought_signature: 'b+/=' },
          },
        ],
      },
    ],
    wants: ({ tool_calls: calls }) => {
      const [first] = Array.isArray(calls) ? (calls as Members[]) : [];
      const wanted = { name: 'look', arguments: '{}', thought_signature: 'b+/=' };
      return isSame(first?.function, wanted) ? null : geminiRefusal;
    },
    shown: '',
  },
  {
    // The message itself is signed, as it is where there is no call.
    name: 'gemini, a signed message',
    source: 'https://discuss.ai.google.dev/t/109823',
    deltas: [
      { role: 'assistant', content: 'I look. ', extra_content: signed },
      ...called({ extra_content: { google: { thought_signature: 'second' } } }, ['{"at":"sea"}']),
    ],
    wants: ({ extra_content: own }) => (isSame(own, signed) ? null : geminiRefusal),
    shown: '',
  },
];
