// What the real Messages API refuses and clients get wrong: order of roles, pairs of tool calls and
// results, thinking. Each check answers the provider's message, or null.
import { combinationFault } from '../functions.ts';
import { isMembers, type Members, membersOf, stringsOf } from '../members.ts';
import { signatureOf } from './signature.ts';

interface Turn {
  role: string;
  /** Number of its first message. */
  at: number;
  blocks: Members[];
}

const roles: readonly unknown[] = ['user', 'assistant', 'system'];
const budgetTokensMin = 1024;

/** How images begin in base64. What begins otherwise is not looked at. */
const imageBytes: readonly (readonly [head: string, mediaType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** Null: the API would take it. `messages` is known to be an array. */
export function refusalOf(body: Members, messages: readonly unknown[]): string | null {
  const turns = turnsOf(messages);
  return (
    messagesRefusal(messages) ??
    sourceRefusal(turns) ??
    toolPairsRefusal(turns) ??
    signatureRefusal(turns) ??
    lastBlockRefusal(turns) ??
    thinkingRefusal(body, turns) ??
    settingsRefusal(body)
  );
}

/** The blocks of a message; a string is one text block. */
export function blocksOf(message: Members): Members[] {
  const { content } = message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : membersOf(content);
}

function messagesRefusal(messages: readonly unknown[]): string | null {
  if (messages.length === 0) return 'messages: at least one message is required';
  for (const [at, message] of messages.entries()) {
    if (!isMembers(message)) return `messages.${at}: Input should be a valid dictionary`;
    const { role, content } = message;
    if (!roles.includes(role)) {
      return `messages.${at}.role: Input should be 'user', 'assistant' or 'system'`;
    }
    if (at === 0 && role !== 'user' && !isCompacted(message))
      return 'messages: first message must use the "user" role';
    const isSetting = role === 'system' && isMembers(message.output_config);
    if (isSetting && (content ?? null) === null) continue;
    if (typeof content !== 'string' && !Array.isArray(content)) {
      return `messages.${at}.content: Field required`;
    }
    const last = at === messages.length - 1;
    if (content.length === 0 && !(last && role === 'assistant')) {
      const rule = 'must have non-empty content except for the optional final assistant message';
      return `messages.${at}: all messages ${rule}`;
    }
    const empty = membersOf(content).some((block) => block.type === 'text' && block.text === '');
    if (empty) return 'messages: text content blocks must be non-empty';
    if (last && role === 'assistant' && /\s$/.test(lastText(message))) {
      return 'messages: final assistant content cannot end with trailing whitespace';
    }
  }
  return null;
}

/** The summary of what was said before may stand first. */
function isCompacted(message: Members): boolean {
  return message.role === 'assistant' && blocksOf(message)[0]?.type === 'compaction';
}

const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

function sourceRefusal(turns: readonly Turn[]): string | null {
  for (const { type, source } of turns.flatMap(({ blocks }) => blocks)) {
    if (!isMembers(source) || source.type !== 'base64') continue;
    const known = type === 'image' ? imageTypes : ['application/pdf'];
    if (!known.includes(String(source.media_type))) {
      return `${type}.source.base64.media_type: Input should be '${known.join("', '")}'`;
    }
    const bytes = imageBytes.find(([head]) => String(source.data).startsWith(head));
    if (type !== 'image' || bytes === undefined || bytes[1] === source.media_type) continue;
    const rule = `was specified using the ${source.media_type} media type`;
    return `image.source.base64: The image ${rule}, but appears to be another`;
  }
  return null;
}

function lastText(message: Members): string {
  const text = blocksOf(message).at(-1)?.text;
  return typeof text === 'string' ? text : '';
}

/** Neighbours of one role are one turn; a system message between them does not count. */
function turnsOf(messages: readonly unknown[]): Turn[] {
  const turns: Turn[] = [];
  for (const [at, message] of messages.entries()) {
    if (!isMembers(message) || message.role === 'system') continue;
    const role = String(message.role);
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocksOf(message));
    else turns.push({ role, at, blocks: blocksOf(message) });
  }
  return turns;
}

function toolPairsRefusal(turns: readonly Turn[]): string | null {
  const seen = new Set<unknown>();
  for (const [number, { role, at, blocks }] of turns.entries()) {
    const before = turns[number - 1];
    for (const [index, block] of blocks.entries()) {
      const where = `messages.${at}.content.${index}`;
      if (block.type === 'tool_use') {
        if (role !== 'assistant') return `${where}: \`tool_use\` blocks can only be in assistant`;
        if (!isMembers(block.input)) return `${where}.tool_use.input: Input should be an object`;
        if (seen.has(block.id)) return `${where}: \`tool_use\` ids must be unique`;
        seen.add(block.id);
      }
      if (block.type !== 'tool_result') continue;
      if (role === 'user' && callIds(before).includes(block.tool_use_id)) continue;
      return (
        `${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ` +
        `${block.tool_use_id}. Each \`tool_result\` block must have a corresponding ` +
        '`tool_use` block in the previous message.'
      );
    }
    const missing = unanswered(turns, number);
    if (missing.length > 0) {
      return (
        `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks ` +
        `immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a ` +
        'corresponding `tool_result` block in the next message.'
      );
    }
  }
  return null;
}

function callIds(turn: Turn | undefined): unknown[] {
  const calls = (turn?.blocks ?? []).filter((block) => block.type === 'tool_use');
  return calls.map((block) => block.id);
}

/** Results count only while nothing else has begun in the next turn. */
function unanswered(turns: readonly Turn[], number: number): unknown[] {
  const next = turns[number + 1];
  const blocks = next?.blocks ?? [];
  const end = blocks.findIndex((block) => block.type !== 'tool_result');
  const answered = (end < 0 ? blocks : blocks.slice(0, end)).map((block) => block.tool_use_id);
  return callIds(turns[number]).filter((id) => !answered.includes(id));
}

function lastBlockRefusal(turns: readonly Turn[]): string | null {
  const bad = turns.find((turn) => {
    return turn.role === 'assistant' && turn.blocks.at(-1)?.type === 'thinking';
  });
  if (bad === undefined) return null;
  return `messages.${bad.at}: The final block in an assistant message cannot be \`thinking\`.`;
}

function signatureRefusal(turns: readonly Turn[]): string | null {
  for (const { at, blocks } of turns) {
    for (const [index, block] of blocks.entries()) {
      if (block.type !== 'thinking') continue;
      const right = typeof block.thinking === 'string' ? signatureOf(block.thinking) : null;
      if (block.signature === right) continue;
      return `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`;
    }
  }
  return null;
}

function thinkingRefusal(body: Members, turns: readonly Turn[]): string | null {
  const thinking = isMembers(body.thinking) ? body.thinking : {};
  const enabled = thinking.type === 'enabled';
  if (!enabled && thinking.type !== 'adaptive') return null;
  const budget = thinking.budget_tokens;
  if (enabled) {
    if (typeof budget !== 'number') return 'thinking.enabled.budget_tokens: Field required';
    if (budget < budgetTokensMin) {
      const rule = `Input should be greater than or equal to ${budgetTokensMin}`;
      return `thinking.enabled.budget_tokens: ${rule}`;
    }
    if (typeof body.max_tokens === 'number' && body.max_tokens <= budget) {
      return '`max_tokens` must be greater than `thinking.budget_tokens`.';
    }
  }
  if (body.temperature !== undefined && body.temperature !== 1) {
    return '`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.';
  }
  const choice = isMembers(body.tool_choice) ? body.tool_choice.type : 'auto';
  if (choice === 'any' || choice === 'tool') {
    return 'Thinking may not be enabled when tool_choice forces tool use.';
  }
  return enabled ? continuedThinkingRefusal(turns) : null;
}

/** A turn that waits for tool results must come back with the thinking that led to its calls. */
function continuedThinkingRefusal(turns: readonly Turn[]): string | null {
  const answers = turns.at(-1)?.blocks ?? [];
  const asked = turns.at(-2);
  if (asked === undefined || !answers.some((block) => block.type === 'tool_result')) return null;
  const found = asked.blocks[0]?.type;
  if (found === 'thinking' || found === 'redacted_thinking') return null;
  return (
    `messages.${asked.at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but ` +
    `found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start ` +
    'with a thinking block.'
  );
}

function settingsRefusal(body: Members): string | null {
  const { temperature } = body;
  if (typeof temperature === 'number' && (temperature < 0 || temperature > 1)) {
    return 'temperature: range: 0..1';
  }
  if (stringsOf(body.stop_sequences).some((sequence) => sequence.trim() === '')) {
    return 'stop_sequences: each stop sequence must contain non-whitespace';
  }
  const tools = membersOf(body.tools);
  for (const [index, { type, name, input_schema: schema }] of tools.entries()) {
    const custom = type === undefined || type === null || type === 'custom';
    if (!custom) continue;
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      return `tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    }
    if (!isMembers(schema)) return `tools.${index}.custom.input_schema: Field required`;
    if (schema.type !== 'object') {
      return `tools.${index}.custom.input_schema.type: Input should be 'object'`;
    }
    const fault = combinationFault(schema);
    if (fault !== null) return `tools.${index}.custom.input_schema: ${fault}`;
    const names = isMembers(schema.properties) ? Object.keys(schema.properties) : [];
    if (names.some((each) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(each))) {
      const rule = "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'";
      return `tools.${index}.custom.input_schema.properties: ${rule}`;
    }
  }
  if (new Set(tools.map(({ name }) => name)).size < tools.length) {
    return 'tools: Tool names must be unique.';
  }
  return null;
}
