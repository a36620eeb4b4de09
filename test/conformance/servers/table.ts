// Servers that speak Chat Completions in words of their own. A row says what one adds to its turns,
// wants back with them, and refuses.
import { mistral } from './mistral.ts';
import {
  called,
  isSame,
  type Members,
  type ServerRow,
  thinking,
  thought,
  thoughts,
  wantsBack,
} from './row.ts';
import { runners } from './runners.ts';

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
  mistral,
  ...runners,
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
