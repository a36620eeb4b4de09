// What is known of the items of one stream. Everything is told by its place: some servers change
// the id of an item from event to event.
import { type Members, wordOf } from '../../../transport/members.ts';
import type { ClientFormat } from '../contract.ts';

export interface Call {
  index: number;
  /** Characters of its arguments that were told. */
  told: number;
  /** It calls a custom tool. */
  custom: boolean;
}

/** A part of a message of which something was told. */
export interface Part {
  /** Where it begins in the text that the events make. */
  start: number;
  annotations: number;
  /** Whether any text of it was told; the rest is for clients of this format alone. */
  told: boolean;
  /** With its deltas, by the end of its text, and by its own end. */
  logprobs: { told: unknown[]; done: unknown[] | null; part: unknown[] | null };
}

export interface ItemState {
  /** Places of items of which something was told. */
  seen: Set<string>;
  calls: Map<string, Call>;
  /** Ids of the calls so far. */
  given: Set<string>;
  parts: Map<string, Part>;
  searches: number;
  /** There are calls that the client has to answer. */
  awaitsClient: boolean;
  /** Length of the text since the last item of another kind. */
  textLength: number;
  /** The part of reasoning that is being written: place and index. */
  reasoningPart: string;
  /** Places of reasoning whose text was told. */
  reasoned: Set<string>;
  /** Places of parts of kinds that this format does not have. */
  others: Set<string>;
  /** Only for a client of this format; null: for another, which has no place for what is in it. */
  own: PassthroughState | null;
  /** For a client of Chat, which has a place for logprobs. */
  scores: boolean;
}

/** What only this format can show: see `passthrough.ts`. */
export interface PassthroughState {
  /** The item of the last part that was told; empty: another item has begun since. */
  current: string;
  /** The place of the part of a message that was begun last: the others are over. */
  part: string;
  /** What messages and reasoning have beside their parts, by place. */
  members: Map<string, Members>;
  /** Items without a neutral form that were announced and have not ended, by place. */
  natives: Map<string, { index: number; type: unknown }>;
  nativeCount: number;
}

export function newPart(start: number): Part {
  const logprobs = { told: [], done: null, part: null };
  return { start, annotations: 0, told: false, logprobs };
}

function newOwn(): PassthroughState {
  return { current: '', part: '', members: new Map(), natives: new Map(), nativeCount: 0 };
}

export function newItems(clientFormat?: ClientFormat): ItemState {
  return {
    seen: new Set(),
    calls: new Map(),
    given: new Set(),
    parts: new Map(),
    searches: 0,
    awaitsClient: false,
    textLength: 0,
    reasoningPart: '',
    reasoned: new Set(),
    others: new Set(),
    own: clientFormat === 'responses' ? newOwn() : null,
    scores: clientFormat === 'chat',
  };
}

/** Where an event's item stands. */
export function placeOf(event: Members): string {
  const { output_index: index, item_id: id } = event;
  return Number.isSafeInteger(index) ? String(index) : wordOf(id ?? '0');
}

/** Where an event's part of a message stands. */
export function partPlaceOf(event: Members): string {
  return `${placeOf(event)}:${indexOf(event.content_index)}`;
}

export function indexOf(value: unknown): number {
  return Number.isSafeInteger(value) ? (value as number) : 0;
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
