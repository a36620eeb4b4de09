// What is known of the items of one stream. Everything is told by its place: some servers change
// the id of an item from event to event.
import type { Members } from '../members.ts';

export interface Call {
  index: number;
  /** Characters of its arguments that were told. */
  told: number;
}

/** A part of a message of which something was told. */
export interface Part {
  /** Where it begins in the text that the events make. */
  start: number;
  annotations: number;
}

export interface ItemState {
  /** Places of items of which something was told. */
  seen: Set<string>;
  calls: Map<string, Call>;
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
}

export function newItems(): ItemState {
  return {
    seen: new Set(),
    calls: new Map(),
    parts: new Map(),
    searches: 0,
    awaitsClient: false,
    textLength: 0,
    reasoningPart: '',
    reasoned: new Set(),
  };
}

/** Where an event's item stands. */
export function placeOf(event: Members): string {
  const { output_index: index, item_id: id } = event;
  return Number.isSafeInteger(index) ? String(index) : String(id ?? '0');
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
