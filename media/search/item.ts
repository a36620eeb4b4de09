// What items of every kind have, and how it is read.
import * as v from 'valibot';
import type { Reading, SearchAsk, SearchItem } from './contract.ts';
import { published, shownText, webAddress, whole } from './fields.ts';
import { addressOf, hostOf } from './values/address.ts';
import { type Published, publishedOf } from './values/date.ts';
import { textOf } from './values/text.ts';

export const titleMax = 300;
export const snippetMax = 1_000;
const sourceMax = 200;
export const itemsMax = 50;

export interface ReadingContext {
  ask: SearchAsk;
  nowMs: number;
}

/** An item before it has its place in the list. */
export type Unplaced = Omit<SearchItem, 'position'>;

/** `same`: items with the same one are one; null: there is no other. */
export interface ReadItem {
  item: Unplaced;
  same: string | null;
}

/** Null: the reading has not what an item of the kind needs. */
export type ReadKind = (reading: Reading, context: ReadingContext) => ReadItem | null;

export const itemEntries = {
  position: v.pipe(whole(1, itemsMax), v.description('1, 2, … without gaps.')),
  title: shownText(titleMax),
  url: v.exactOptional(webAddress),
  snippet: v.exactOptional(shownText(snippetMax)),
  source: v.exactOptional(shownText(sourceMax)),
  published_at: v.exactOptional(
    v.pipe(published, v.description('Where it is certain: a day, or a moment in UTC.')),
  ),
  published_text: v.exactOptional(
    v.pipe(shownText(100), v.description('When it was published in the words of the source.')),
  ),
  thumbnail: v.exactOptional(webAddress),
};

interface BaseMembers extends Published {
  title?: string;
  url?: string;
  snippet?: string;
  source?: string;
  thumbnail?: string;
}

export function readBase(reading: Reading, { nowMs }: ReadingContext): BaseMembers {
  return known({
    title: textOf(reading.title, titleMax),
    url: addressOf(reading.url),
    snippet: textOf(reading.snippet, snippetMax),
    source: textOf(named(reading.source), sourceMax),
    ...publishedOf(reading.date, nowMs),
    thumbnail: addressOf(reading.thumbnail),
  });
}

/** A page may have lost its title: its host says where it leads. */
export function titleOf(title: string | undefined, address: string | undefined): string {
  return title ?? (address === undefined ? '' : hostOf(address));
}

type Known<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the members that are not known. */
export function known<T extends object>(members: T): Known<T> {
  const kept: Known<T> = {};
  for (const name of Object.keys(members) as (keyof T)[]) {
    const value = members[name];
    if (value !== undefined) kept[name] = value as Exclude<T[keyof T], undefined>;
  }
  return kept;
}

/** `{name}` where a text is meant. */
export function named(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'name' in value ? value.name : value;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
