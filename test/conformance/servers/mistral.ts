// Mistral's own server. It thinks in parts of its content, knows few members, and refuses a request
// with any other. Its client (github.com/mistralai/client-python) lists what it takes.
import { isSame, type Members, type ServerRow, thought, thoughts } from './row.ts';

const bodyMembers: ReadonlySet<string> = new Set([
  'frequency_penalty',
  'guardrails',
  'max_tokens',
  'messages',
  'metadata',
  'model',
  'n',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_mode',
  'random_seed',
  'reasoning_effort',
  'response_format',
  'safe_prompt',
  'stop',
  'stream',
  'temperature',
  'tool_choice',
  'tools',
  'top_p',
]);

const messageMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  system: new Set(['content', 'role']),
  user: new Set(['content', 'role']),
  assistant: new Set(['content', 'prefix', 'role', 'tool_calls']),
  tool: new Set(['content', 'name', 'role', 'tool_call_id']),
};

/** The place of the first member that it does not know; null: it knows them all. */
function unknownPlace(body: Members): (string | number)[] | null {
  const odd = Object.keys(body).find((name) => !bodyMembers.has(name));
  if (odd !== undefined) return ['body', odd];
  for (const [index, message] of (body.messages as Members[]).entries()) {
    const role = String(message.role);
    const known = messageMembers[role];
    const member = Object.keys(message).find((name) => known?.has(name) !== true);
    if (member !== undefined) return ['body', 'messages', index, role, member];
  }
  return null;
}

function orderFault(messages: readonly Members[]): string | null {
  for (const [
    index,
    { role, content, tool_calls: calls, tool_call_id: id },
  ] of messages.entries()) {
    const before = messages[index - 1]?.role;
    if (role === 'user' && before === 'tool') return "Unexpected role 'user' after role 'tool'";
    if (role === 'assistant' && (content ?? '') === '' && calls === undefined) {
      return 'Assistant message must have either content or tool_calls, but not none.';
    }
    const ids = [id, ...((calls ?? []) as Members[]).map((call) => call.id)];
    const odd = ids.find((one) => one !== undefined && !/^[a-zA-Z0-9]{9}$/.test(String(one)));
    if (odd !== undefined) {
      return `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`;
    }
  }
  return null;
}

const usual = { object: 'error', type: 'invalid_request_error', param: null, code: null };

const chunk = (delta: Members, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const ended = (reason: string) =>
  `${chunk({ content: 'a' })}${chunk({ content: '' }, reason)}data: [DONE]\n\n`;

export const mistral: ServerRow = {
  name: 'mistral',
  source: 'https://docs.mistral.ai/capabilities/reasoning',
  model: 'mistral-medium-3-5',
  quirks: { strict_members: true },
  status: 422,
  deltas: [
    { role: 'assistant', content: '' },
    ...thoughts.map((text) => ({
      content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }],
    })),
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: '' }], closed: true },
        { type: 'text', text: 'Wai' },
      ],
    },
    { content: 't. ' },
    {
      // It names no type, and writes each call whole.
      tool_calls: [
        { index: 0, id: 'D681PevKs', function: { name: 'look', arguments: '{"at":"sea"}' } },
      ],
    },
  ],
  wants: ({ content }) => {
    const [first, ...rest] = Array.isArray(content) ? (content as Members[]) : [];
    const isThought = isSame(first?.thinking, [{ type: 'text', text: thought }]);
    const isWhole = isThought && isSame(rest, [{ type: 'text', text: 'Wait. ' }]);
    return isWhole ? null : 'the thinking differs';
  },
  refuses(body) {
    const place = unknownPlace(body);
    return place === null ? orderFault(body.messages as Members[]) : JSON.stringify(place);
  },
  error(message) {
    if (!message.startsWith('[')) return { ...usual, message };
    const detail = {
      type: 'extra_forbidden',
      loc: JSON.parse(message) as unknown,
      msg: 'Extra inputs are not permitted',
      input: null,
    };
    return { ...usual, message: { detail: [detail] } };
  },
  shown: thought,
  says: [
    {
      status: 400,
      body: {
        ...usual,
        message:
          'Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 ' +
          'maximum context length',
      },
      told: '400 context_length_exceeded messages',
    },
    {
      status: 422,
      body: {
        ...usual,
        message: {
          detail: [{ type: 'less_than', loc: ['body', 'temperature'], msg: '', input: 3 }],
        },
      },
      told: '400 invalid_request temperature',
    },
    {
      // An older form of the same: the message is JSON in a string.
      status: 422,
      body: {
        ...usual,
        message: '{"detail":[{"type":"less_than","loc":["body","temperature"],"input":3}]}',
        type: 'internal_error_proxy',
        code: '1000',
      },
      told: '400 invalid_request temperature',
    },
    {
      status: 400,
      body: {
        ...usual,
        message: "Unexpected role 'user' after role 'tool'",
        type: 'invalid_request_message_order',
        code: '3230',
      },
      told: '400 invalid_request',
    },
    {
      status: 429,
      body: { ...usual, message: 'Rate limit exceeded', type: 'rate_limited', code: '1300' },
      told: '503 upstream_busy',
    },
    { status: 200, body: ended('model_length'), told: 'length' },
    { status: 200, body: ended('error'), told: '502 upstream_error' },
  ],
};
