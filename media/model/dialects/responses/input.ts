// `input` of this format → neutral messages. What the model said in one turn (reasoning, text,
// calls) becomes one assistant message; items that only this format knows ride along as native.
import { fieldProblem } from '../../../../runtime/http/validate.ts';
import { customCall } from '../../custom-tools.ts';
import { fileUrl } from '../../file-url.ts';
import { addTo } from '../../lists.ts';
import type { ContentPart, Message, NativeMembers } from '../../request.ts';
import { readCarried } from '../../returned.ts';
import type { Seals } from '../../seals.ts';
import { passthroughOf } from '../passthrough.ts';
import { isDeclaring } from './late-tools.ts';
import { flatName } from './namespaces.ts';
import { type Members, type OpenedReasoning, openReasoning } from './reasoning.ts';

export type InputItem = Members & { type?: string | null | undefined };

export interface ReadInput {
  messages: Message[];
  /** The items as a provider of this format takes them back; null: as they are. */
  opened: Members[] | null;
}

/** @throws Problem invalid_request with the path of what is wrong */
export function readInput(
  input: string | readonly InputItem[],
  seals: Pick<Seals, 'open'>,
  path = 'input',
): ReadInput {
  const messages: Message[] = [];
  if (typeof input === 'string') {
    messages.push(message('user', [{ type: 'text', text: input }]));
    return { messages, opened: null };
  }
  let opened: Members[] | null = null;
  for (const [index, item] of input.entries()) {
    if (typeOf(item) !== 'reasoning') {
      readItem(messages, item, { path: `${path}[${index}]`, seals });
      opened?.push(item);
      continue;
    }
    const part = openReasoning(item, seals);
    if (part !== null) readReasoning(messages, part);
    opened ??= input.slice(0, index);
    if (part?.type === 'native' && part.format === 'responses') opened.push(part.value);
  }
  return { messages, opened };
}

/** A message of one text; for `instructions` too. */
export function textMessage(role: Message['role'], text: string): Message {
  return message(role, [{ type: 'text', text }]);
}

function readReasoning(messages: Message[], opened: OpenedReasoning): void {
  const said = assistant(messages, false);
  if (opened.type !== 'returned') {
    said.parts.push(opened);
    return;
  }
  const { server, members } = opened;
  said.returned ??= [];
  said.returned.push({ server, members });
}

interface Reading {
  path: string;
  seals: Pick<Seals, 'open'>;
}

function readItem(messages: Message[], item: InputItem, reading: Reading): void {
  const { path } = reading;
  switch (typeOf(item)) {
    case 'message':
      readMessage(messages, item, path);
      return;
    case 'function_call':
    case 'custom_tool_call':
      assistant(messages, true).toolCalls.push(readCall(item, reading));
      return;
    case 'custom_tool_call_output':
    case 'function_call_output': {
      // Of a tool that was never called: only this format has results without a call.
      if ((item.call_id ?? null) === null && typeof item.name === 'string') {
        readNative(messages, item);
        return;
      }
      const parts = readContent(item.output, `${path}.output`);
      messages.push({
        ...message('tool', parts),
        toolCallId: text(item.call_id, `${path}.call_id`),
        ...(item.type === 'custom_tool_call_output' ? ownOf(item) : {}),
      });
      return;
    }
    case 'item_reference':
      throw fieldProblem(`${path}.id`, 'There is no stored item with this id.');
    default:
      readNative(messages, item);
  }
}

function readCall(item: InputItem, { path, seals }: Reading): Message['toolCalls'][number] {
  const said = text(item.name, `${path}.name`);
  const { namespace } = item;
  const isInside = typeof namespace === 'string' && namespace !== '';
  const name = isInside ? flatName(namespace, said) : said;
  const id = text(item.call_id, `${path}.call_id`);
  const beside = {
    ...(isInside ? { inside: { namespace, name: said } } : {}),
    ...readCarried(id, seals),
  };
  if (item.type === 'custom_tool_call') {
    const call = customCall(id, name, text(item.input, `${path}.input`));
    return { ...call, ...beside, ...ownOf(item) };
  }
  return { id, name, arguments: text(item.arguments, `${path}.arguments`), ...beside };
}

const customMembers: ReadonlySet<string> = new Set([
  '__proto__',
  'call_id',
  'id',
  'input',
  'name',
  'namespace',
  'output',
  'status',
  'type',
]);

/** What a custom tool's call or result has besides, as who called it. */
function ownOf(item: InputItem): NativeMembers {
  return passthroughOf('responses', item, customMembers);
}

/** What an item is that does not say so: a message, or the id of a stored item alone. */
export function typeOf({ type, id, role }: InputItem): string {
  return type ?? (typeof id === 'string' && role === undefined ? 'item_reference' : 'message');
}

function readMessage(messages: Message[], item: InputItem, path: string): void {
  const { role } = item;
  const parts = readContent(item.content, `${path}.content`);
  if (role === 'assistant') {
    const { phase } = item;
    const said = typeof phase === 'string' ? parts.map((part) => inPhase(part, phase)) : parts;
    addTo(assistant(messages, false).parts, said);
    return;
  }
  if (role !== 'user' && role !== 'system' && role !== 'developer') {
    const expected = 'expected user, assistant, system or developer.';
    throw fieldProblem(`${path}.role`, `Invalid value for '${path}.role': ${expected}`);
  }
  messages.push(message(role, parts));
}

function inPhase(part: ContentPart, phase: string): ContentPart {
  return part.type === 'text' ? { ...part, phase } : part;
}

/**
 * What a client sends back of a native call is the user's side, and tools are declared by the
 * developer. All else is the model's, also what came of a call that the provider's server executed.
 */
function readNative(messages: Message[], item: InputItem): void {
  const part: ContentPart = { type: 'native', format: 'responses', value: item };
  const type = item.type ?? '';
  if (isDeclaring(item)) {
    messages.push(message('developer', [part]));
    return;
  }
  const isOutput = type.endsWith('_output') && item.execution !== 'server';
  const isReply = isOutput || type === 'mcp_approval_response';
  if (isReply) messages.push(message('user', [part]));
  else assistant(messages, false).parts.push(part);
}

/** The assistant's message of this turn. Parts stand before its calls: after a call, a new one. */
function assistant(messages: Message[], forCall: boolean): Message {
  const last = messages.at(-1);
  if (last?.role === 'assistant' && (forCall || last.toolCalls.length === 0)) return last;
  const opened = message('assistant', []);
  messages.push(opened);
  return opened;
}

function readContent(content: unknown, path: string): ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    throw fieldProblem(path, `Invalid value for '${path}': expected a string or a list of parts.`);
  }
  return content.map((part: unknown, index) => readPart(part, `${path}[${index}]`));
}

function readPart(part: unknown, path: string): ContentPart {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) {
    throw fieldProblem(path, `Invalid value for '${path}': expected an object.`);
  }
  const members = part as Members;
  switch (members.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: text(members.text, `${path}.text`) };
    // Not every format tells it from other words, but all models are to know what was said.
    case 'refusal':
      return { type: 'text', text: text(members.refusal, `${path}.refusal`) };
    case 'input_image': {
      const { image_url: url, detail } = members;
      if (typeof url !== 'string') return native(members);
      return { type: 'image', url, detail: typeof detail === 'string' ? detail : null };
    }
    case 'input_file': {
      const { file_data: data, file_url: address, filename } = members;
      const name = typeof filename === 'string' ? filename : null;
      const url = typeof data === 'string' ? fileUrl(data, name) : address;
      // Both at once has no neutral form, and neither may go unseen.
      const hasBoth = typeof data === 'string' && typeof address === 'string';
      if (typeof url !== 'string' || hasBoth) return native(members);
      return { type: 'file', url, name };
    }
    case 'input_audio':
    case 'reasoning_text':
    case 'summary_text':
      return native(members);
    default:
      throw fieldProblem(`${path}.type`, `Invalid value for '${path}.type'.`);
  }
}

function native(value: Members): ContentPart {
  return { type: 'native', format: 'responses', value };
}

function message(role: Message['role'], parts: ContentPart[]): Message {
  return { role, parts, toolCalls: [], toolCallId: null };
}

function text(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw fieldProblem(path, `Missing or invalid '${path}': expected a string.`);
}
