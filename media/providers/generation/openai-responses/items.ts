// Output items of a stream: calls are opened as they are announced and filled as they come; the
// rest is read when it is done. Items without a neutral form are handed on whole.
import type { ModelEvent } from '../../../model/events.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { uniqueId } from '../call-ids.ts';
import { readPart, reasoningText } from './parts.ts';
import { announce, beginNative, endMessage, endNative, endReasoning } from './passthrough.ts';
import { type Call, type ItemState, listOf, stringOf } from './state.ts';

/**
 * Announces a call that the client runs. What stands in a namespace only this format can call; it
 * has custom tools of its own as items without a neutral form.
 */
export function openCall(
  items: ItemState,
  place: string,
  item: Members,
  events: ModelEvent[],
): Call | null {
  const custom = item.type === 'custom_tool_call' && items.own === null;
  if ((!custom && item.type !== 'function_call') || stringOf(item.namespace) !== '') return null;
  const known = items.calls.get(place);
  if (known !== undefined) return known;
  // Announced as an item of this format: it has more than a name and arguments.
  if (items.own?.natives.has(place)) return null;
  const index = items.calls.size;
  const named = stringOf(item.call_id) || stringOf(item.id) || `call_${index}`;
  const id = uniqueId(items.given, named, index);
  const call = { index, told: 0, custom };
  items.calls.set(place, call);
  items.seen.add(place);
  items.awaitsClient = true;
  items.textLength = 0;
  if (items.own !== null) items.own.current = '';
  const event: ModelEvent = { type: 'tool_call', index, id, name: stringOf(item.name) };
  if (custom) event.freeText = true;
  events.push(event);
  return call;
}

/** What every call has; one with more is an item of this format. */
const callMembers: ReadonlySet<string> = new Set([
  'type',
  'id',
  'status',
  'arguments',
  'call_id',
  'name',
]);

function isPlainCall(item: Members): boolean {
  return Object.keys(item).every((name) => callMembers.has(name) || item[name] === null);
}

/** An item is announced. */
export function openItem(
  items: ItemState,
  place: string,
  item: Members,
  events: ModelEvent[],
): void {
  const { own } = items;
  if (own === null) {
    openCall(items, place, item, events);
    return;
  }
  const { type } = item;
  if (type === 'message' || type === 'reasoning') announce(own, place, item);
  else if (type === 'function_call' && isPlainCall(item)) {
    openCall(items, place, item, events);
  } else if (typeof type === 'string' && !items.calls.has(place)) {
    beginNative(items, own, place, item, events);
  }
}

/** False: there is no such call. */
export function addArguments(
  items: ItemState,
  place: string,
  text: unknown,
  events: ModelEvent[],
): boolean {
  const call = items.calls.get(place);
  if (call === undefined) return false;
  if (typeof text !== 'string' || text === '') return true;
  call.told += text.length;
  events.push({ type: 'tool_arguments', index: call.index, text });
  return true;
}

/** Reads a whole item: what of it was not told yet. */
export function doneItem(
  items: ItemState,
  place: string,
  item: Members,
  events: ModelEvent[],
): void {
  switch (item.type) {
    case 'message':
      for (const [index, part] of listOf(item.content).entries()) {
        if (isMembers(part)) readPart(items, `${place}:${index}`, part, events);
      }
      endMessage(items, place, item, events);
      break;
    case 'reasoning':
      if (items.own !== null) endReasoning(items, place, item, events);
      else doneReasoning(items, place, item, events);
      break;
    default: {
      const call = openCall(items, place, item, events);
      if (call === null) nativeItem(items, place, item, events);
      else {
        addArguments(items, place, restOfArguments(call, item), events);
        const isEnded = call.custom && item.status !== 'incomplete';
        if (isEnded) events.push({ type: 'tool_end', index: call.index });
      }
    }
  }
  items.seen.add(place);
}

/** Some servers write nothing where a function takes nothing, which is no JSON. */
function restOfArguments({ told, custom }: Call, item: Members): string {
  const { arguments: text, input, status } = item;
  if (custom) return stringOf(input).slice(told);
  const isEmpty = told === 0 && stringOf(text) === '' && status !== 'incomplete';
  return isEmpty ? '{}' : stringOf(text).slice(told);
}

/** Closes the run of reasoning with what the provider needs to take it back. */
function doneReasoning(items: ItemState, place: string, item: Members, events: ModelEvent[]): void {
  const { id, encrypted_content: sealed } = item;
  const content = listOf(item.content);
  const summary = listOf(item.summary);
  const text = reasoningText(summary) || reasoningText(content);
  if (!items.reasoned.has(place) && text !== '') events.push({ type: 'reasoning', text });
  items.textLength = 0;
  if (typeof sealed === 'string' && sealed !== '') {
    const value = { id, encrypted_content: sealed, summary };
    events.push({ type: 'reasoning_end', format: 'responses', value });
  } else if (content.length > 0) {
    // Open models: the text itself is what goes back.
    events.push({ type: 'reasoning_end', format: 'responses', value: { content, summary } });
  }
}

function nativeItem(items: ItemState, place: string, item: Members, events: ModelEvent[]): void {
  const type = stringOf(item.type);
  if (type === 'web_search_call' && isSearch(item.action)) items.searches += 1;
  if (isForClient(type, item)) items.awaitsClient = true;
  items.textLength = 0;
  const index = items.own === null ? undefined : endNative(items.own, place);
  if (index === undefined) {
    if (items.own !== null) items.own.current = '';
    events.push({ type: 'native', format: 'responses', value: item });
  } else events.push({ type: 'native', index, format: 'responses', value: item });
}

/** Opening a page or finding something in one is no search. */
function isSearch(action: unknown): boolean {
  return !isMembers(action) || action.type === undefined || action.type === 'search';
}

/** Whether the client has to answer it before the model goes on. */
function isForClient(type: string, item: Members): boolean {
  if (type === 'function_call' || type === 'mcp_approval_request') return true;
  if (type === 'shell_call' || type === 'tool_search_call') return item.execution !== 'server';
  return /^(custom_tool|computer|local_shell|apply_patch)_call$/.test(type);
}
