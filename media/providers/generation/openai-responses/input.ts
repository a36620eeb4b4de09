// Input items for a server that stores nothing for us: what a client sends of an earlier turn is
// stripped of ids that would be looked up.
import type { ContentPart, Message, NativeMembers } from '../../../model/request.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { fileName } from '../file-name.ts';
import { wordedResult } from '../turns.ts';

/** Items whose id only names a stored copy. */
const withoutIds: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
]);
/** Parts of a message; any other native part is an item of its own. */
const contentTypes: ReadonlySet<unknown> = new Set([
  'input_text',
  'input_image',
  'input_file',
  'input_audio',
  'output_text',
]);

/** The client's own items, as its provider may see them. */
export function forwardInput(input: unknown): unknown {
  if (!Array.isArray(input)) return input;
  return input.map((item: unknown) => (isMembers(item) ? forwardItem(item) : item));
}

/** The turns before, as they were answered, and the client's own items. */
export function continued(input: readonly Members[]): Members[] {
  return withoutLoneReasoning(input.map(forwardItem));
}

function forwardItem(item: Members): Members {
  if (!withoutIds.has(item.type) || item.id === undefined) return item;
  const { id: _id, ...kept } = item;
  return kept;
}

/** Neutral messages as items; native items stand where they stood, as they are. */
export function encodeInput(messages: readonly Message[]): Members[] {
  const custom = new Set<string>();
  return withoutLoneReasoning(messages.flatMap((message) => encodeMessage(message, custom)));
}

/** `custom`: ids of calls of custom tools so far, whose results are items of their own type. */
function encodeMessage(message: Message, custom: Set<string>): Members[] {
  const { role, parts } = message;
  if (role === 'tool') {
    const output = toolOutput(wordedResult(message));
    const call_id = message.toolCallId ?? '';
    const type = custom.has(call_id) ? 'custom_tool_call_output' : 'function_call_output';
    return [{ type, call_id, output, ...ownOf(message) }];
  }
  const items: Members[] = [];
  let content: Members[] = [];
  let phase: string | undefined;
  const flush = () => {
    if (content.length > 0) items.push({ role, content, ...(phase !== undefined && { phase }) });
    content = [];
  };
  for (const part of parts) {
    if (part.type === 'text' && part.phase !== phase) {
      flush();
      phase = part.phase;
    }
    if (part.type === 'native' && !contentTypes.has(part.value.type)) {
      if (part.format !== 'responses') continue;
      flush();
      items.push(forwardItem(part.value));
    } else content.push(...encodePart(part, role === 'assistant'));
  }
  flush();
  for (const call of message.toolCalls) {
    if (call.custom === undefined) custom.delete(call.id);
    else custom.add(call.id);
    items.push(encodeCall(call));
  }
  return items;
}

function encodeCall(call: Message['toolCalls'][number]): Members {
  const { id: call_id, arguments: text, custom: input } = call;
  const named = call.inside ?? { name: call.name };
  if (input === undefined) return { type: 'function_call', call_id, ...named, arguments: text };
  return { type: 'custom_tool_call', call_id, ...named, input, ...ownOf(call) };
}

/** What a client of the same format said besides. */
function ownOf({ own }: NativeMembers): Members {
  return own?.format === 'responses' ? own.value : {};
}

/** What a tool said: one text is a string. */
function toolOutput(parts: readonly ContentPart[]): string | Members[] {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.type === 'text') return first.text;
  return parts.flatMap((part) => encodePart(part, false));
}

function encodePart(part: ContentPart, byModel: boolean): Members[] {
  switch (part.type) {
    case 'text':
      return [{ type: byModel ? 'output_text' : 'input_text', text: part.text }];
    case 'image':
      return [{ type: 'input_image', image_url: part.url, detail: part.detail ?? 'auto' }];
    case 'file': {
      if (!/^data:/i.test(part.url)) return [{ type: 'input_file', file_url: part.url }];
      const filename = fileName(part.name, part.url);
      return [{ type: 'input_file', filename, file_data: part.url }];
    }
    default:
      return part.format === 'responses' ? [part.value] : [];
  }
}

/** Reasoning is refused where nothing of the same turn follows it. */
function withoutLoneReasoning(items: Members[]): Members[] {
  const kept: Members[] = [];
  let isFollowed = false;
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item === undefined) continue;
    const isReasoning = item.type === 'reasoning';
    if (!isReasoning) isFollowed = item.role === undefined || item.role === 'assistant';
    if (!isReasoning || isFollowed) kept.push(item);
  }
  return kept.reverse();
}
