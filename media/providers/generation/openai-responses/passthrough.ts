// What only a client of this format can be shown: borders of parts and items, every kind of
// annotation, and items without a neutral form while they are worked on. A border is told with what
// stands behind it: before that there is nothing of an answer, and another provider may be asked.
import type { Citation, FinishReason, ModelEvent, PartKind } from '../../../model/events.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import {
  type ItemState,
  indexOf,
  listOf,
  newPart,
  type Part,
  type PassthroughState,
  placeOf,
  stringOf,
} from './state.ts';

/** What of a message or of reasoning is told by other means. */
const neutralMembers: ReadonlySet<string> = new Set([
  '__proto__',
  'content',
  'encrypted_content',
  'id',
  'role',
  'summary',
  'type',
]);

/** Keeps what an item is announced with. */
export function announce(own: PassthroughState, place: string, item: Members): void {
  own.members.set(place, membersOf(item));
}

/** The members of an item that have no neutral form. The status of a message follows its answer. */
function membersOf(item: Members): Members {
  const members: Members = {};
  for (const name of Object.keys(item)) {
    if (neutralMembers.has(name) || (name === 'status' && item.type === 'message')) continue;
    members[name] = item[name];
  }
  return members;
}

/** A part of this item begins, and the item, unless that is what was told last. */
export function beginPart(
  items: ItemState,
  own: PassthroughState,
  item: string,
  kind: PartKind,
  events: ModelEvent[],
): void {
  const isNew = own.current !== item;
  own.current = item;
  items.textLength = 0;
  events.push({ type: 'part', kind, item: isNew ? (own.members.get(item) ?? {}) : null });
}

/**
 * The logprobs as the end of a text, and then of its part, lists them: by the published types they
 * are not the same as those of the deltas. Told where they say otherwise, and again only then.
 */
export function endLogprobs({ logprobs }: Part, end: Members, events: ModelEvent[]): void {
  const listed = listOf(end.logprobs);
  const isEvent = end.item_id !== undefined || end.output_index !== undefined;
  if (isEvent) {
    logprobs.done = listed;
    return;
  }
  const known = logprobs.part ?? logprobs.told;
  const done = logprobs.done ?? listed;
  if (known.length + listed.length + done.length === 0) return;
  const before = JSON.stringify([logprobs.part === null ? known : done, known]);
  if (JSON.stringify([done, listed]) === before) return;
  logprobs.part = listed;
  events.push({ type: 'part_logprobs', done, part: listed });
}

/** An annotation as it is; what it says of an address is for whoever looks for sources. */
export function ownCitation(annotation: Members): Citation {
  const { type, url, title, start_index: start, end_index: end } = annotation;
  const address = type === 'url_citation' ? stringOf(url) : '';
  return {
    url: address,
    title: stringOf(title) || address,
    start: Number.isSafeInteger(start) ? (start as number) : null,
    end: Number.isSafeInteger(end) ? (end as number) : null,
    native: { format: 'responses', value: annotation },
  };
}

/** A part of reasoning: which of its two lists it stands in, and where. */
export interface ReasoningPlace {
  item: string;
  kind: 'summary_text' | 'reasoning_text';
  index: number;
}

export function reasoningPlaceOf(event: Members): ReasoningPlace {
  const isSummary = event.summary_index !== undefined;
  return {
    item: placeOf(event),
    kind: isSummary ? 'summary_text' : 'reasoning_text',
    index: indexOf(isSummary ? event.summary_index : event.content_index),
  };
}

/** Text of a part of reasoning; its first one (also an empty one) begins the part. */
export function ownReasoning(
  items: ItemState,
  { item, kind, index }: ReasoningPlace,
  text: string,
  events: ModelEvent[],
): void {
  const place = `${item}:${kind}:${index}`;
  if (items.own !== null && !items.parts.has(place)) {
    beginPart(items, items.own, item, kind, events);
    items.parts.set(place, newPart(0));
    items.seen.add(item);
  }
  const part = items.parts.get(place);
  if (part === undefined || text === '') return;
  part.told = true;
  events.push({ type: 'reasoning', text });
}

/** A part of reasoning that is done: its text, when none of it was told. */
export function doneReasoningPart(
  items: ItemState,
  at: ReasoningPlace,
  text: unknown,
  events: ModelEvent[],
): void {
  const told = items.parts.get(`${at.item}:${at.kind}:${at.index}`)?.told === true;
  ownReasoning(items, at, told ? '' : stringOf(text), events);
}

/** The end of reasoning: what was not told, then all that it has beside its texts. */
export function endReasoning(
  items: ItemState,
  place: string,
  item: Members,
  events: ModelEvent[],
): void {
  const { own } = items;
  if (own === null) return;
  for (const [kind, list] of [
    ['summary_text', item.summary],
    ['reasoning_text', item.content],
  ] as const) {
    for (const [index, part] of listOf(list).entries()) {
      if (!isMembers(part)) continue;
      doneReasoningPart(items, { item: place, kind, index }, part.text, events);
    }
  }
  if (own.current !== place) {
    if (!own.members.has(place)) announce(own, place, item);
    beginPart(items, own, place, 'reasoning', events);
  }
  own.current = '';
  const { type: _type, ...value } = item;
  events.push({ type: 'reasoning_end', format: 'responses', value });
}

/** The end of a message: an empty one is an item like any other, of the rest the members count. */
export function endMessage(
  items: ItemState,
  place: string,
  item: Members,
  events: ModelEvent[],
): void {
  const { own } = items;
  if (own === null) return;
  if (listOf(item.content).length === 0 && !items.seen.has(place)) {
    beginNative(items, own, place, { ...item, status: 'in_progress' }, events);
    const index = endNative(own, place) ?? 0;
    events.push({ type: 'native', index, format: 'responses', value: item });
    return;
  }
  const members = membersOf(item);
  const known = own.members.get(place) ?? {};
  if (own.current !== place || JSON.stringify(members) === JSON.stringify(known)) return;
  own.members.set(place, members);
  events.push({ type: 'item_members', members });
}

/** An item of another kind begins: what is told of a message next begins it anew. */
export function otherItem(items: ItemState, own: PassthroughState): void {
  own.current = '';
  items.textLength = 0;
}

/** Announces an item without a neutral form. */
export function beginNative(
  items: ItemState,
  own: PassthroughState,
  place: string,
  item: Members,
  events: ModelEvent[],
): void {
  if (own.natives.has(place)) return;
  const index = own.nativeCount;
  own.nativeCount += 1;
  own.natives.set(place, { index, type: item.type });
  items.seen.add(place);
  otherItem(items, own);
  events.push({ type: 'native_begin', index, format: 'responses', value: item });
}

/** The number of the item that ends here; undefined: it was not announced. */
export function endNative(own: PassthroughState, place: string): number | undefined {
  const native = own.natives.get(place);
  own.natives.delete(place);
  return native?.index;
}

/** An event of an item without a neutral form, whatever it is called; its ids are ours to say. */
export function nativeEvent(
  own: PassthroughState,
  type: string,
  event: Members,
  events: ModelEvent[],
): void {
  const index = own.natives.get(placeOf(event))?.index;
  if (index === undefined || !/^response\.[\w.]{1,100}$/.test(type)) return;
  const value: Members = { ...event, type };
  delete value.sequence_number;
  // The padding that hides the length of a text hides nothing behind another encoder.
  delete value.obfuscation;
  for (const name of ['item_id', 'output_index']) if (name in value) value[name] = null;
  events.push({ type: 'native_event', index, format: 'responses', value });
}

/**
 * Items of whose end no event has told, as the whole response has them. It may have left one out:
 * then another stands in its place.
 */
export function unendedItems(
  own: PassthroughState,
  output: unknown,
): [place: string, item: Members][] {
  return [...own.natives].flatMap(([place, { type }]): [string, Members][] => {
    const item: unknown = listOf(output)[Number(place)];
    return isMembers(item) && item.type === type ? [[place, item]] : [];
  });
}

const knownReasons: ReadonlySet<unknown> = new Set(['max_output_tokens', 'content_filter']);

/** What the end of a response says in its own words. */
export function ownFinish(reason: FinishReason, response: Members): ModelEvent {
  const { incomplete_details: details, moderation } = response;
  const value: Members = {};
  if (
    isMembers(details) &&
    typeof details.reason === 'string' &&
    (!knownReasons.has(details.reason) || Object.keys(details).length > 1)
  ) {
    value.incomplete_details = details;
  }
  if (isMembers(moderation)) value.moderation = moderation;
  if (Object.keys(value).length === 0) return { type: 'finish', reason };
  return { type: 'finish', reason, native: { format: 'responses', value } };
}
