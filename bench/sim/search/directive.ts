// What a search query asks of the simulator: `[[search …]]`, or else `[[sim …]]`, so that a model
// and its search can be asked for two things. Of several the last one for this family decides.
import { type Directive, directiveEntries, parseDirective } from '../directive.ts';

export interface SearchDirective
  extends Pick<
    Directive,
    'status' | 'retryAfterSeconds' | 'firstMs' | 'fault' | 'at' | 'empty' | 'unknown'
  > {
  /** So many items, whatever the request wants. */
  results: number | null;
  /** The reply is as long, with members that nobody knows. */
  bytes: number | null;
  isExhausted: boolean;
  isPartial: boolean;
  /** So many of the first items are without what their kind needs. */
  badItems: number;
  hasMarkup: boolean;
  hasRelativeDates: boolean;
  /** It holds for so many calls that are alike. */
  times: number;
}

const resultsMax = 10_000;
const bytesMax = 64 * 1_024 * 1_024;

const plain: Readonly<SearchDirective> = Object.freeze({
  status: 200,
  retryAfterSeconds: 1,
  firstMs: 0,
  fault: null,
  at: 0,
  empty: false,
  unknown: false,
  results: null,
  bytes: null,
  isExhausted: false,
  isPartial: false,
  badItems: 0,
  hasMarkup: false,
  hasRelativeDates: false,
  times: Number.POSITIVE_INFINITY,
});

/** Null: the query has none for this family. */
export function searchDirectiveIn(query: string, family: string): SearchDirective | null {
  const mark = query.includes('[[search') ? 'search' : 'sim';
  const written = [...query.matchAll(/\[\[(?:search|sim)\b[\s\S]*?\]\]/g)].map(([text]) => text);
  const ours = written.findLast(
    (text) => text.startsWith(`[[${mark}`) && isFor(family, directiveEntries(text, mark) ?? []),
  );
  return ours === undefined ? null : read(ours, mark);
}

export const plainSearch = (): SearchDirective => ({ ...plain });

/** `empty=1 times=2`, as it stands in the brackets. */
export function readSearchDirective(words: string): SearchDirective {
  return read(`[[search ${words}]]`, 'search');
}

function isFor(family: string, entries: readonly [string, string][]): boolean {
  const only = entries.find(([key]) => key === 'only');
  return only === undefined || only[1].split(',').includes(family);
}

function read(text: string, mark: string): SearchDirective {
  const known = parseDirective(text, mark);
  const values = new Map(directiveEntries(text, mark) ?? []);
  const isSet = (key: string) => values.get(key) === '1';
  return {
    status: known.status,
    retryAfterSeconds: known.retryAfterSeconds,
    firstMs: known.firstMs,
    fault: known.fault,
    at: known.at,
    empty: known.empty,
    unknown: known.unknown,
    results: countOf(values.get('results'), resultsMax),
    bytes: countOf(values.get('bytes'), bytesMax),
    isExhausted: isSet('exhausted'),
    isPartial: isSet('partial'),
    badItems: countOf(values.get('bad_items'), resultsMax) ?? 0,
    hasMarkup: isSet('html'),
    hasRelativeDates: isSet('relative_dates'),
    times: countOf(values.get('times'), resultsMax) ?? plain.times,
  };
}

function countOf(value: string | undefined, max: number): number | null {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Math.min(Number(value), max) : null;
}
