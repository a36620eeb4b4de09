// The borders of an answer's parts and items, and items without a neutral form while they come:
// what only a client of the upstream's own format is shown, kept so that it can be told again.
import type { AnswerItem, Border, Cut } from './answer-item.ts';
import type { ModelEvent } from './events.ts';

/** Where an event stands in the list, and how it is told there again. */
interface Step {
  item: number;
  cut: Cut | null;
}

type NativeItem = AnswerItem & { type: 'native' };
type TextItem = AnswerItem & { type: 'text' };

/**
 * Adds what the items take of an event that belongs to one format; null: nothing. `joins`: deltas
 * that follow one another may become one.
 */
export function addOwn(items: AnswerItem[], event: ModelEvent, joins: boolean): Step | null {
  const last = items.at(-1);
  const item = items.length - 1;
  switch (event.type) {
    case 'part':
      items.push(partItem(event));
      return { item: item + 1, cut: null };
    case 'part_logprobs':
      if (last?.type !== 'text') return null;
      last.logprobs = {
        told: last.logprobs?.told ?? [],
        ends: { done: event.done, part: event.part },
      };
      return { item, cut: 'logprobs' };
    case 'item_members':
      if (last === undefined || !('border' in last) || last.border === undefined) return null;
      last.border.done = event.members;
      return { item, cut: 'members' };
    case 'native':
    case 'native_begin':
    case 'native_event':
      return addNative(items, event, joins);
    default:
      return null;
  }
}

function partItem({ kind, item }: ModelEvent & { type: 'part' }): AnswerItem {
  const border = { kind, item };
  if (kind === 'output_text') return { type: 'text', text: '', citations: [], border };
  if (kind === 'refusal') return { type: 'refusal', text: '', border };
  return { type: 'reasoning', text: '', native: null, border };
}

/** Adds those of a text that was just added to the last item. */
export function addLogprobs(items: AnswerItem[], { length }: string, logprobs: unknown[]): Cut {
  const item = items.at(-1);
  if (item?.type !== 'text') return length;
  item.logprobs ??= { told: [] };
  for (const entry of logprobs) item.logprobs.told.push(entry);
  return [length, logprobs.length];
}

type NativeEvent = ModelEvent & { type: 'native' | 'native_begin' | 'native_event' };

function addNative(items: AnswerItem[], event: NativeEvent, joins: boolean): Step | null {
  const { type, format, value, index } = event;
  if (type === 'native_begin' || index === undefined) {
    const stages = { index: index ?? 0, begun: value, told: [], ended: false };
    const item = { type: 'native' as const, format, value };
    items.push(type === 'native' ? item : { ...item, stages });
    return { item: items.length - 1, cut: null };
  }
  const at = items.findLastIndex((item) => item.type === 'native' && item.stages?.index === index);
  const item = items[at];
  if (item?.type !== 'native' || item.stages === undefined || item.stages.ended) return null;
  const { told } = item.stages;
  if (type === 'native') {
    item.value = value;
    item.stages.ended = true;
    return { item: at, cut: 'end' };
  }
  const before = told.at(-1);
  const joined = joins && before !== undefined ? joinDeltas(before, value) : null;
  if (joined === null) told.push(value);
  else told[told.length - 1] = joined;
  return { item: at, cut: 'told' };
}

/** Two deltas of the same text as one; null: they are none. */
function joinDeltas(
  first: Record<string, unknown>,
  second: Record<string, unknown>,
): Record<string, unknown> | null {
  if (typeof first.delta !== 'string' || typeof second.delta !== 'string') return null;
  const names = Object.keys(second);
  const isSame = (name: string) =>
    name === 'delta' || name === 'obfuscation' || first[name] === second[name];
  if (names.length !== Object.keys(first).length || !names.every(isSame)) return null;
  return { ...first, delta: first.delta + second.delta };
}

/** The events of an item's texts, behind the border that stands in front of them. */
export function bordered({ border }: { border?: Border }, events: ModelEvent[]): ModelEvent[] {
  if (border === undefined) return events;
  const { kind, item, done } = border;
  const end: ModelEvent[] = done === undefined ? [] : [{ type: 'item_members', members: done }];
  return [{ type: 'part', kind, item }, ...events, ...end];
}

/** The events of an item without a neutral form. */
export function nativeEvents({ format, value, stages }: NativeItem): ModelEvent[] {
  if (stages === undefined) return [{ type: 'native', format, value }];
  const { index, begun, told, ended } = stages;
  const events: ModelEvent[] = [{ type: 'native_begin', index, format, value: begun }];
  for (const one of told) events.push({ type: 'native_event', index, format, value: one });
  if (ended) events.push({ type: 'native', index, format, value });
  return events;
}

/** A text behind a border: its offsets are its own, no block of another format ends in it. */
export function borderedText({ text, citations, logprobs }: TextItem): ModelEvent[] {
  const { told = [], ends } = logprobs ?? {};
  const events: ModelEvent[] = [];
  if (told.length > 0) events.push({ type: 'text', text, plain: false, logprobs: told });
  else if (text !== '') events.push({ type: 'text', text, plain: false });
  for (const citation of citations) events.push({ type: 'citation', citation });
  if (ends !== undefined) events.push({ type: 'part_logprobs', ...ends });
  return events;
}
