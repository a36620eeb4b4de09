// An answer as accumulated from its events: what is stored, replayed, and rendered as JSON. It is a
// list in the order of appearance: thinking, text and calls may alternate.
import type { AnswerItem, Cut } from './answer-item.ts';
import type { Citation, FinishReason, ModelEvent, NativeValue, Progress } from './events.ts';
import { copyExtra, mergeExtra } from './extra.ts';
import { grow, grown } from './flat.ts';
import { addLogprobs, addOwn, bordered, borderedText, nativeEvents } from './item-boundaries.ts';
import { addTo } from './lists.ts';
import { piecesOf } from './text-run.ts';

type CallItem = AnswerItem & { type: 'tool_call' };

export interface Cuts {
  /** The item that was written last; -1: none was. */
  item: number;
  steps: Cut[];
  progress: Progress[];
}

export interface Answer {
  items: AnswerItem[];
  finishReason: FinishReason | null;
  /** What the upstream's format says of it when it begins. */
  startNative?: NativeValue;
  /** The stop sequence that ended it, where one did and the provider said which. */
  stopSequence: string | null;
  /** How the upstream's format says why it ended, where that says more than the reason. */
  finishNative?: NativeValue;
  /** Chat members seen on the way, merged: arrays concatenated, the rest overwritten. */
  extra: { delta: Record<string, unknown>; choice: Record<string, unknown> };
  /** Kept where the stream must be repeatable event by event: see `replay.ts`. */
  cuts?: Cuts;
  /** Unix seconds of its settlement, for formats that tell it; absent until then. */
  settledAt?: number;
}

export function emptyAnswer(): Answer {
  return { items: [], finishReason: null, stopSequence: null, extra: { delta: {}, choice: {} } };
}

/** Adds one event to the answer, in place; usage and failures are not part of it. */
export function addToAnswer(answer: Answer, event: ModelEvent): void {
  const { items } = answer;
  const last = items.length > 0 ? items[items.length - 1] : undefined;
  switch (event.type) {
    case 'start':
      if (event.native !== undefined) answer.startNative = event.native;
      return;
    case 'text':
      if (last?.type === 'text') grow(last, event.text);
      else items.push({ type: 'text', text: event.text, citations: [] });
      if (event.logprobs !== undefined) {
        cut(answer, items.length - 1, addLogprobs(items, event.text, event.logprobs));
      } else if (answer.cuts !== undefined) {
        for (const piece of piecesOf(event)) cut(answer, items.length - 1, piece.length);
      }
      return;
    case 'refusal':
      if (last?.type === 'refusal') grow(last, event.text);
      else items.push({ type: 'refusal', text: event.text });
      break;
    case 'reasoning':
      if (last?.type === 'reasoning' && last.native === null) grow(last, event.text);
      else items.push(reasoningItem(event));
      break;
    case 'reasoning_end': {
      const native = { format: event.format, value: event.value };
      if (last?.type === 'reasoning' && last.native === null) last.native = native;
      else items.push({ type: 'reasoning', text: '', native });
      cut(answer, items.length - 1, 'end');
      return;
    }
    case 'citation':
      if (last?.type !== 'text') return;
      last.citations.push(event.citation);
      cut(answer, items.length - 1, 'citation');
      return;
    case 'tool_call': {
      const { index, id, name, native, freeText, returned } = event;
      const call: CallItem = { type: 'tool_call', index, id, name, arguments: '' };
      if (native !== undefined) call.native = native;
      if (freeText !== undefined) call.freeText = freeText;
      if (returned !== undefined) call.returned = returned;
      items.push(call);
      cut(answer, items.length - 1, null);
      return;
    }
    case 'tool_arguments':
    case 'tool_end':
      addToCall(answer, event);
      return;
    case 'extra':
      mergeExtra(answer.extra.delta, event.delta);
      mergeExtra(answer.extra.choice, event.choice);
      return;
    case 'finish':
      answer.finishReason = event.reason;
      answer.stopSequence = event.stopSequence ?? null;
      if (event.native !== undefined) answer.finishNative = event.native;
      return;
    default: {
      const step = addOwn(items, event, answer.cuts === undefined);
      if (step !== null) cut(answer, step.item, step.cut);
      return;
    }
  }
  cut(answer, items.length - 1, event.text.length);
}

function addToCall(
  answer: Answer,
  event: ModelEvent & { type: 'tool_arguments' | 'tool_end' },
): void {
  const at = callAt(answer.items, event.index);
  const call = answer.items[at];
  if (call?.type !== 'tool_call') return;
  if (event.type === 'tool_end') {
    call.ended = true;
    cut(answer, at, 'end');
    return;
  }
  call.arguments = grown(call.arguments, event.text);
  cut(answer, at, event.text.length);
}

function reasoningItem({ text, member }: ModelEvent & { type: 'reasoning' }): AnswerItem {
  const item = { type: 'reasoning' as const, text, native: null };
  return member === undefined ? item : { ...item, member };
}

/** Nearly always the newest item; calls may also be written in turns. */
function callAt(items: readonly AnswerItem[], index: number): number {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item?.type === 'tool_call' && item.index === index) return at;
  }
  return -1;
}

function cut({ cuts }: Answer, item: number, step: Cut | null): void {
  if (cuts === undefined) return;
  if (cuts.item !== item) {
    cuts.item = item;
    cuts.steps.push(-1 - item);
  }
  if (step !== null) cuts.steps.push(step);
}

/** The events that rebuild the answer: a late subscriber's catch-up, and every replay. */
export function answerEvents(answer: Answer): ModelEvent[] {
  const events: ModelEvent[] = [startEvent(answer)];
  for (const item of answer.items) addTo(events, itemEvents(item));
  events.push(...lastEvents(answer));
  return events;
}

function startEvent({ startNative: native }: Answer): ModelEvent {
  return native === undefined ? { type: 'start' } : { type: 'start', native };
}

/** A call as it begins. */
export function callEvent(call: CallItem): ModelEvent {
  const { index, id, name, native, freeText, returned } = call;
  const event: ModelEvent = { type: 'tool_call', index, id, name };
  if (native !== undefined) event.native = native;
  if (freeText !== undefined) event.freeText = freeText;
  if (returned !== undefined) event.returned = returned;
  return event;
}

function itemEvents(item: AnswerItem): ModelEvent[] {
  switch (item.type) {
    case 'text':
      return bordered(item, textEvents(item));
    case 'refusal':
      return bordered(item, item.text === '' ? [] : [{ type: 'refusal', text: item.text }]);
    case 'reasoning': {
      const end: ModelEvent[] =
        item.native === null ? [] : [{ type: 'reasoning_end', ...item.native }];
      if (item.text === '') return bordered(item, end);
      const { type, text, member } = item;
      const words = member === undefined ? { type, text } : { type, text, member };
      return bordered(item, [words, ...end]);
    }
    case 'tool_call': {
      const { index, arguments: text, ended } = item;
      const events = [callEvent(item)];
      if (text !== '') events.push({ type: 'tool_arguments', index, text });
      if (ended === true) events.push({ type: 'tool_end', index });
      return events;
    }
    case 'native':
      return nativeEvents(item);
  }
}

/** What stands at the end of every replay, wherever it came. */
export function lastEvents(answer: Answer): ModelEvent[] {
  const events: ModelEvent[] = [];
  // Of an answer that runs on, it goes on to grow.
  const { delta, choice } = copyExtra(answer.extra);
  if (Object.keys(delta).length + Object.keys(choice).length > 0) {
    events.push({ type: 'extra', format: 'chat', delta, choice });
  }
  const { finishReason, stopSequence, finishNative } = answer;
  if (finishReason !== null) {
    events.push({
      type: 'finish',
      reason: finishReason,
      ...(stopSequence === null ? {} : { stopSequence }),
      ...(finishNative === undefined ? {} : { native: finishNative }),
    });
  }
  return events;
}

/**
 * Text and its citations: those that end a block of Messages stand where they stood. Those of an
 * empty text belong to nothing that is told.
 */
function textEvents(item: AnswerItem & { type: 'text' }): ModelEvent[] {
  const { text, citations, border } = item;
  if (border !== undefined) return borderedText(item);
  if (text === '') return [];
  const events: ModelEvent[] = [];
  let position = 0;
  let cited = 0;
  for (const piece of splitText(text, blockEnds(citations, text.length))) {
    events.push({ type: 'text', text: piece, plain: false });
    position += piece.length;
    for (; cited < citations.length; cited += 1) {
      const citation = citations[cited];
      if (citation?.native === undefined || (citation.end ?? text.length) > position) break;
      events.push({ type: 'citation', citation });
    }
  }
  for (const citation of citations.slice(cited)) events.push({ type: 'citation', citation });
  return events;
}

/** Where blocks of text end inside an item, ascending: only Messages has such blocks. */
export function blockEnds(citations: readonly Citation[], length: number): number[] {
  const ends = new Set<number>();
  for (const { native, end } of citations) {
    if (native?.format === 'messages' && end !== null && end > 0 && end < length) ends.add(end);
  }
  return [...ends].sort((left, right) => left - right);
}

/** The text cut at these places; nothing of an empty one. */
export function splitText(text: string, ends: readonly number[]): string[] {
  if (text === '') return [];
  const starts = [0, ...ends];
  return starts.map((start, index) => text.slice(start, starts[index + 1]));
}

/** All visible text of the answer. */
export function answerText(answer: Answer): string {
  let text = '';
  for (const item of answer.items) if (item.type === 'text') text += item.text;
  return text;
}

export function answerRefusal(answer: Answer): string {
  let text = '';
  for (const item of answer.items) if (item.type === 'refusal') text += item.text;
  return text;
}

export function answerReasoning(answer: Answer): string {
  let text = '';
  for (const item of answer.items) if (item.type === 'reasoning') text += item.text;
  return text;
}

/** The tool calls in order of appearance. */
export function answerToolCalls(answer: Answer): CallItem[] {
  return answer.items.filter((item) => item.type === 'tool_call');
}
