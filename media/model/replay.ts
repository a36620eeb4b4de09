// An answer told again exactly as it came: the same deltas in the same order, with what was said of
// its progress in between. A stream that is numbered event by event goes on from any of them.
import {
  type Answer,
  addToAnswer,
  answerEvents,
  callEvent,
  emptyAnswer,
  lastEvents,
} from './answer.ts';
import type { AnswerItem, Cut } from './answer-item.ts';
import type { ModelEvent, Progress } from './events.ts';

/** A run of events, or one progress between two of them. */
export type ReplayPart = { events: ModelEvent[] } | { progress: Progress };

/** From now on the answer remembers in which pieces it comes. */
export function keepCuts(answer: Answer): void {
  answer.cuts = { item: -1, steps: [], progress: [] };
}

/** Notes a progress at its place; does nothing for an answer without cuts. */
export function addProgress(answer: Answer, progress: Progress): void {
  answer.cuts?.progress.push(progress);
  answer.cuts?.steps.push('progress');
}

/**
 * Of an answer that was withheld while it came: it is shown whole now (or never), as `answerEvents`
 * has it, behind all progress.
 */
export function recut(answer: Answer, isShown: boolean): void {
  if (answer.cuts === undefined) return;
  const again = emptyAnswer();
  keepCuts(again);
  for (const progress of answer.cuts.progress) addProgress(again, progress);
  if (isShown) {
    for (const event of answerEvents(answer)) addToAnswer(again, event);
    // Without empty items: no event of them was told.
    answer.items = again.items;
  }
  if (again.cuts !== undefined) answer.cuts = again.cuts;
}

/** What was told of an answer that is withheld so far. */
export function progressParts({ cuts }: Answer): ReplayPart[] {
  if (cuts === undefined) return [];
  return [{ events: [{ type: 'start' }] }, ...cuts.progress.map((progress) => ({ progress }))];
}

/** The parts that rebuild the stream; without cuts as few events as there can be. */
export function replayParts(answer: Answer): ReplayPart[] {
  const { cuts } = answer;
  if (cuts === undefined) return [{ events: answerEvents(answer) }];
  const parts: ReplayPart[] = [];
  let events: ModelEvent[] = [{ type: 'start' }];
  const cursor = newCursor(answer);
  let told = 0;
  for (const step of cuts.steps) {
    if (step === 'progress') {
      const progress = cuts.progress[told];
      told += 1;
      if (progress === undefined) continue;
      parts.push({ events }, { progress });
      events = [];
    } else {
      const event = nextEvent(cursor, step);
      if (event !== null) events.push(event);
    }
  }
  events.push(...lastEvents(answer));
  parts.push({ events });
  return parts;
}

interface Cursor {
  items: readonly AnswerItem[];
  /** The item of the last negative step. */
  at: number;
  begun: Set<number>;
  /** How far each item's text, and its citations, were told. */
  offsets: number[];
  citations: number[];
  /** How many logprobs of each text, and events of each native item. */
  listed: number[];
}

function newCursor(answer: Answer): Cursor {
  const zeros = answer.items.map(() => 0);
  const { items } = answer;
  const [citations, listed] = [[...zeros], [...zeros]];
  return { items, at: -1, begun: new Set(), offsets: zeros, citations, listed };
}

function nextEvent(cursor: Cursor, step: Exclude<Cut, 'progress'>): ModelEvent | null {
  if (typeof step === 'number' && step < 0) {
    cursor.at = -1 - step;
    return beginning(cursor);
  }
  const item = cursor.items[cursor.at];
  if (item === undefined) return null;
  if (item.type === 'native') return stageEvent(cursor, item, step);
  if (step === 'members') {
    const members = 'border' in item ? item.border?.done : undefined;
    return members === undefined ? null : { type: 'item_members', members };
  }
  if (step === 'logprobs') {
    const ends = item.type === 'text' ? item.logprobs?.ends : undefined;
    return ends === undefined ? null : { type: 'part_logprobs', ...ends };
  }
  if (step === 'told') return null;
  if (step === 'end') {
    if (item.type === 'tool_call') return { type: 'tool_end', index: item.index };
    if (item.type !== 'reasoning' || item.native === null) return null;
    return { type: 'reasoning_end', ...item.native };
  }
  if (step === 'citation') {
    if (item.type !== 'text') return null;
    const told = cursor.citations[cursor.at] ?? 0;
    cursor.citations[cursor.at] = told + 1;
    const citation = item.citations[told];
    return citation === undefined ? null : { type: 'citation', citation };
  }
  const [length, count] = typeof step === 'number' ? [step, 0] : step;
  const offset = cursor.offsets[cursor.at] ?? 0;
  cursor.offsets[cursor.at] = offset + length;
  const event = delta(item, offset, offset + length);
  if (typeof step === 'number' || event.type !== 'text' || item.type !== 'text') return event;
  const first = cursor.listed[cursor.at] ?? 0;
  cursor.listed[cursor.at] = first + count;
  return { ...event, logprobs: item.logprobs?.told.slice(first, first + count) ?? [] };
}

/** What was told of a native item that was begun, and its end. */
function stageEvent(
  { at, listed }: Cursor,
  { format, value, stages }: AnswerItem & { type: 'native' },
  step: Cut,
): ModelEvent | null {
  if (stages === undefined) return null;
  const { index, told } = stages;
  if (step === 'end') return { type: 'native', index, format, value };
  const next = listed[at] ?? 0;
  const one = told[next];
  if (step !== 'told' || one === undefined) return null;
  listed[at] = next + 1;
  return { type: 'native_event', index, format, value: one };
}

/** Calls, native items and borders are told when they first appear; a text without a border begins
 * with its first delta. */
function beginning({ items, at, begun }: Cursor): ModelEvent | null {
  const item = items[at];
  if (item === undefined || begun.has(at)) return null;
  begun.add(at);
  if (item.type === 'tool_call') return callEvent(item);
  if (item.type !== 'native') {
    if (item.border === undefined) return null;
    return { type: 'part', kind: item.border.kind, item: item.border.item };
  }
  const { format, stages } = item;
  if (stages === undefined) return { type: 'native', format, value: item.value };
  return { type: 'native_begin', index: stages.index, format, value: stages.begun };
}

function delta(
  item: Exclude<AnswerItem, { type: 'native' }>,
  start: number,
  end: number,
): ModelEvent {
  switch (item.type) {
    case 'text':
      return { type: 'text', text: item.text.slice(start, end), plain: false };
    case 'refusal':
    case 'reasoning':
      return { type: item.type, text: item.text.slice(start, end) };
    case 'tool_call':
      return {
        type: 'tool_arguments',
        index: item.index,
        text: item.arguments.slice(start, end),
      };
  }
}
