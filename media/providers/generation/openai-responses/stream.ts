// The reducer of a Responses stream: (state, event) → neutral events. It changes the state it is
// given and nothing else. Items are told by their place; what was not streamed is read when it is
// done, so that servers that leave events out lose nothing.
import type { ModelEvent } from '../../../model/events.ts';
import { isMembers, type Members, wordOf } from '../../../transport/members.ts';
import { plainFailure } from '../../../transport/refusal.ts';
import type { ClientFormat } from '../contract.ts';
import { meaningOf } from '../endings.ts';
import { errorOf, streamFailure } from './failure.ts';
import { endingOf } from './finish.ts';
import { addArguments, doneItem, openItem } from './items.ts';
import { readAnnotation, readPart, reasoningDelta, refusalDelta, textDelta } from './parts.ts';
import {
  doneReasoningPart,
  nativeEvent,
  ownFinish,
  reasoningPlaceOf,
  unendedItems,
} from './passthrough.ts';
import { type ItemState, newItems, partPlaceOf, placeOf } from './state.ts';
import { readUsage } from './usage.ts';

export interface ResponsesStreamState {
  started: boolean;
  /** The terminal event was read. */
  finished: boolean;
  failed: boolean;
  items: ItemState;
}

/** `clientFormat`: whose answer it is. */
export function emptyResponsesStream(clientFormat?: ClientFormat): ResponsesStreamState {
  return { started: false, finished: false, failed: false, items: newItems(clientFormat) };
}

/** The text of an event that means one text delta and nothing else, once the stream has begun. */
export function soleText(event: unknown, type: string): string | null {
  if (!isMembers(event) || typeOf(event, type) !== 'response.output_text.delta') return null;
  if (Array.isArray(event.logprobs) && event.logprobs.length > 0) return null;
  return typeof event.delta === 'string' && event.delta !== '' ? event.delta : null;
}

/** For a text that was recognised without being read again: the part goes on. */
export function noteText(state: ResponsesStreamState, text: string): void {
  state.items.textLength += text.length;
}

export function plainText(text: string): ModelEvent {
  return { type: 'text', text, plain: true };
}

/** Reads one parsed `data:` payload; `name` is that of its `event:` line. */
export function readEvent(state: ResponsesStreamState, event: unknown, name: string): ModelEvent[] {
  const events: ModelEvent[] = [];
  if (!isMembers(event)) return events;
  const type = typeOf(event, name);
  if (type === 'error' || (type === '' && isMembers(event.error))) {
    fail(state, errorOf(event), events);
    return events;
  }
  begin(state, events);
  readTyped(state, type, event, events);
  return events;
}

/** Reads a whole response, as a server sends it that ignored `stream`. */
export function readResponse(state: ResponsesStreamState, response: Members): ModelEvent[] {
  const events: ModelEvent[] = [];
  const isResponse = Array.isArray(response.output) || typeof response.status === 'string';
  if (!isResponse) {
    if (isMembers(response.error)) fail(state, response.error, events);
    return events;
  }
  begin(state, events);
  endOf(state, response, events);
  return events;
}

function typeOf(event: Members, name: string): string {
  return typeof event.type === 'string' ? event.type : name;
}

function readTyped(
  state: ResponsesStreamState,
  type: string,
  event: Members,
  events: ModelEvent[],
): void {
  const { items } = state;
  switch (type) {
    case 'response.output_text.delta':
      textDelta(items, partPlaceOf(event), event.delta, events, event.logprobs);
      return;
    case 'response.refusal.delta':
      refusalDelta(items, partPlaceOf(event), event.delta, events);
      return;
    case 'response.output_text.done':
      readPart(items, partPlaceOf(event), { ...event, type: 'output_text' }, events);
      return;
    case 'response.refusal.done':
      readPart(items, partPlaceOf(event), { type: 'refusal', refusal: event.refusal }, events);
      return;
    case 'response.content_part.done':
      if (isMembers(event.part)) donePart(items, event, event.part, events);
      return;
    case 'response.output_text.annotation.added':
      readAnnotation(items, partPlaceOf(event), event.annotation, events);
      return;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      reasoningDelta(items, event, events);
      return;
    case 'response.reasoning_summary_text.done':
    case 'response.reasoning_text.done':
      doneReasoning(items, event, event.text, events);
      return;
    case 'response.reasoning_summary_part.done':
      if (isMembers(event.part)) doneReasoning(items, event, event.part.text, events);
      return;
    case 'response.output_item.added':
      if (isMembers(event.item)) openItem(items, placeOf(event), event.item, events);
      return;
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      if (!addArguments(items, placeOf(event), event.delta, events)) break;
      return;
    case 'response.output_item.done':
      if (isMembers(event.item)) doneItem(items, placeOf(event), event.item, events);
      return;
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
    case 'response.cancelled':
      endOf(state, isMembers(event.response) ? event.response : {}, events, type.slice(9));
      return;
    default:
  }
  if (items.own !== null) nativeEvent(items.own, type, event, events);
}

/** Parts of reasoning end by the same event as those of messages. */
function donePart(items: ItemState, event: Members, part: Members, events: ModelEvent[]): void {
  if (part.type === 'reasoning_text') doneReasoning(items, event, part.text, events);
  else readPart(items, partPlaceOf(event), part, events);
}

function doneReasoning(
  items: ItemState,
  event: Members,
  text: unknown,
  events: ModelEvent[],
): void {
  if (items.own !== null) doneReasoningPart(items, reasoningPlaceOf(event), text, events);
}

function endOf(
  state: ResponsesStreamState,
  response: Members,
  events: ModelEvent[],
  named?: string,
): void {
  const { items } = state;
  const status = named ?? response.status;
  if (items.seen.size === 0 && Array.isArray(response.output)) {
    for (const [index, item] of response.output.entries()) {
      if (isMembers(item)) doneItem(items, String(index), item, events);
    }
  }
  if (items.own !== null) {
    for (const [place, item] of unendedItems(items.own, response.output)) {
      doneItem(items, place, item, events);
    }
  }
  const usage = readUsage(response, items.searches);
  if (status === 'failed' || status === 'cancelled') {
    if (usage !== null) events.push({ type: 'usage', usage });
    fail(state, response.error, events);
    return;
  }
  const word = endingOf({ ...response, status });
  const answered = items.parts.size + items.calls.size > 0;
  const reason = meaningOf(word, { called: items.awaitsClient, answered });
  if (reason === 'failed') {
    if (usage !== null) events.push({ type: 'usage', usage });
    state.failed = true;
    const failure = plainFailure('cut', `the answer ended with ${wordOf(word)}`);
    events.push({ type: 'failure', failure });
    return;
  }
  if (items.own === null) events.push({ type: 'finish', reason });
  else events.push(ownFinish(reason, response));
  if (usage !== null) events.push({ type: 'usage', usage });
  state.finished = true;
}

function begin(state: ResponsesStreamState, events: ModelEvent[]): void {
  if (state.started) return;
  state.started = true;
  events.push({ type: 'start' });
}

function fail(state: ResponsesStreamState, error: unknown, events: ModelEvent[]): void {
  state.failed = true;
  events.push({ type: 'failure', failure: streamFailure(error) });
}
