// Output items of a stream: calls are opened as they are announced and filled as they come; the
// rest is read when it is done. Items without a neutral form are handed on whole.
import type { ModelEvent } from '../../model/events.ts';
import { isMembers, type Members } from '../members.ts';
import { readPart, reasoningText } from './parts.ts';
import { type Call, type ItemState, listOf, stringOf } from './state.ts';

/** Announces a function call. What stands in a namespace only this format can call. */
export function openCall(
  items: ItemState,
  place: string,
  item: Members,
  events: ModelEvent[],
): Call | null {
  if (item.type !== 'function_call' || stringOf(item.namespace) !== '') return null;
  const known = items.calls.get(place);
  if (known !== undefined) return known;
  const index = items.calls.size;
  const id = stringOf(item.call_id) || stringOf(item.id) || `call_${index}`;
  const call = { index, told: 0 };
  items.calls.set(place, call);
  items.seen.add(place);
  items.awaitsClient = true;
  items.textLength = 0;
  events.push({ type: 'tool_call', index, id, name: stringOf(item.name) });
  return call;
}

export function addArguments(
  items: ItemState,
  place: string,
  text: unknown,
  events: ModelEvent[],
): void {
  const call = items.calls.get(place);
  if (call === undefined || typeof text !== 'string' || text === '') return;
  call.told += text.length;
  events.push({ type: 'tool_arguments', index: call.index, text });
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
      break;
    case 'reasoning':
      doneReasoning(items, place, item, events);
      break;
    default: {
      const call = openCall(items, place, item, events);
      if (call === null) nativeItem(items, item, events);
      else addArguments(items, place, restOfArguments(call, item), events);
    }
  }
  items.seen.add(place);
}

/** Some servers write nothing where a function takes nothing, which is no JSON. */
function restOfArguments({ told }: Call, { arguments: text, status }: Members): string {
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

function nativeItem(items: ItemState, item: Members, events: ModelEvent[]): void {
  const type = stringOf(item.type);
  if (type === 'web_search_call' && isSearch(item.action)) items.searches += 1;
  if (isForClient(type, item)) items.awaitsClient = true;
  items.textLength = 0;
  events.push({ type: 'native', format: 'responses', value: item });
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
