// Parts of messages and of reasoning: deltas as they come, and whole parts for what was not told.
import { isPlain } from '../../../../runtime/http/json-pieces.ts';
import type { ModelEvent, PartKind } from '../../../model/events.ts';
import { addTo } from '../../../model/lists.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { readLoosePart } from '../loose-parts.ts';
import {
  beginPart,
  endLogprobs,
  ownCitation,
  ownReasoning,
  reasoningPlaceOf,
} from './passthrough.ts';
import { type ItemState, indexOf, listOf, newPart, type Part, placeOf, stringOf } from './state.ts';

/** Between two parts of one run of reasoning. */
const paragraph = '\n\n';

export function textDelta(
  items: ItemState,
  place: string,
  text: unknown,
  events: ModelEvent[],
  logprobs: unknown = null,
): void {
  const listed = items.own === null ? [] : listOf(logprobs);
  if (typeof text !== 'string' || (text === '' && listed.length === 0)) return;
  const part = partAt(items, place, 'output_text', events);
  part.told = true;
  items.textLength += text.length;
  const plain = isPlain(text);
  if (items.scores) {
    events.push({ type: 'text', text, plain });
    const choice = chatScores(logprobs);
    if (choice !== null) events.push({ type: 'extra', format: 'chat', delta: {}, choice });
  } else if (listed.length === 0) events.push({ type: 'text', text, plain });
  else {
    addTo(part.logprobs.told, listed);
    events.push({ type: 'text', text, plain, logprobs: listed });
  }
}

export function refusalDelta(
  items: ItemState,
  place: string,
  text: unknown,
  events: ModelEvent[],
): void {
  if (typeof text !== 'string' || text === '') return;
  partAt(items, place, 'refusal', events).told = true;
  items.textLength = 0;
  events.push({ type: 'refusal', text });
}

/** A part that is done: its text when none of it was told, then the citations that were not. */
export function readPart(
  items: ItemState,
  place: string,
  part: Members,
  events: ModelEvent[],
): void {
  const told = items.parts.get(place);
  if (part.type === 'refusal') {
    if (told === undefined) refusalDelta(items, place, part.refusal, events);
    if (items.own !== null) partAt(items, place, 'refusal', events);
    return;
  }
  if (part.type !== 'output_text') {
    readOther(items, place, part, events);
    return;
  }
  if (told?.told !== true) textDelta(items, place, part.text, events);
  if (items.own !== null) {
    const begun = partAt(items, place, 'output_text', events);
    if (items.own.part === place) endLogprobs(begun, part, events);
  }
  for (const annotation of listOf(part.annotations).slice(told?.annotations ?? 0)) {
    readAnnotation(items, place, annotation, events);
  }
}

/** A part of another kind, which several events may tell whole. */
function readOther(items: ItemState, place: string, part: Members, events: ModelEvent[]): void {
  if (items.others.has(place)) return;
  items.others.add(place);
  const read = readLoosePart(part);
  switch (read.type) {
    case 'text':
      textDelta(items, place, read.text, events);
      break;
    case 'refusal':
      refusalDelta(items, place, read.text, events);
      break;
    case 'reasoning':
      thoughtOf(items, place, read.text, events);
      break;
    default:
      events.push(read);
  }
}

/** A thought within a message is reasoning of its own to a client of this format. */
function thoughtOf(items: ItemState, place: string, text: string, events: ModelEvent[]): void {
  if (text === '') return;
  items.textLength = 0;
  if (items.own === null) {
    events.push({ type: 'reasoning', text });
    return;
  }
  ownReasoning(items, { item: `${place}:thought`, kind: 'reasoning_text', index: 0 }, text, events);
  items.own.current = '';
}

export function readAnnotation(
  items: ItemState,
  place: string,
  annotation: unknown,
  events: ModelEvent[],
): void {
  const part = items.parts.get(place);
  if (part === undefined || (items.own === null && items.textLength === 0)) return;
  part.annotations += 1;
  if (!isMembers(annotation) || (items.own !== null && items.own.part !== place)) return;
  if (items.own !== null) {
    events.push({ type: 'citation', citation: ownCitation(annotation) });
    return;
  }
  if (annotation.type !== 'url_citation') return;
  const { url, start_index: start, end_index: end } = annotation;
  if (typeof url !== 'string') return;
  const citation = {
    url,
    title: stringOf(annotation.title) || url,
    start: offsetOf(start, part.start),
    end: offsetOf(end, part.start),
  };
  events.push({ type: 'citation', citation });
}

export function reasoningDelta(items: ItemState, event: Members, events: ModelEvent[]): void {
  const text = stringOf(event.delta);
  if (text === '') return;
  const place = placeOf(event);
  if (items.own !== null) {
    ownReasoning(items, reasoningPlaceOf(event), text, events);
    return;
  }
  const part = `${place}:${indexOf(event.summary_index ?? event.content_index)}`;
  const isNewPart = items.reasoningPart !== part && items.reasoned.has(place);
  items.reasoningPart = part;
  items.seen.add(place);
  items.reasoned.add(place);
  items.textLength = 0;
  events.push({ type: 'reasoning', text: isNewPart ? paragraph + text : text });
}

/** The text of a summary, or of the content of an open model's reasoning. */
export function reasoningText(parts: unknown): string {
  const texts = listOf(parts).map((part) => (isMembers(part) ? stringOf(part.text) : ''));
  return texts.filter((text) => text !== '').join(paragraph);
}

function partAt(items: ItemState, place: string, kind: PartKind, events: ModelEvent[]): Part {
  const known = items.parts.get(place);
  if (known !== undefined) return known;
  const item = place.slice(0, place.lastIndexOf(':'));
  if (items.own !== null) {
    beginPart(items, items.own, item, kind, events);
    items.own.part = place;
  }
  const part = newPart(items.textLength);
  items.parts.set(place, part);
  items.seen.add(item);
  return part;
}

function offsetOf(value: unknown, base: number): number | null {
  return Number.isSafeInteger(value) ? (value as number) + base : null;
}

/** Logprobs as a choice of Chat has them: there every token has its bytes, or null. */
function chatScores(logprobs: unknown): Members | null {
  const entries = listOf(logprobs).filter(isMembers);
  if (entries.length === 0) return null;
  const content = entries.map(({ top_logprobs: top, ...entry }) => ({
    bytes: null,
    ...entry,
    top_logprobs: listOf(top)
      .filter(isMembers)
      .map((other) => ({ bytes: null, ...other })),
  }));
  return { logprobs: { content, refusal: null } };
}
