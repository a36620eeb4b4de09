// Whether a file is sent at all: the conditions of a GET or HEAD in the order of RFC 9110, 13.2.2.
import { parseHttpDate } from './http-date.ts';

export interface Validators {
  /** Without quotes; it is a strong one. */
  etag: string;
  lastModifiedMs: number;
}

/** `failed` is a 412, `unchanged` a 304. */
export type Verdict = 'send' | 'failed' | 'unchanged';

/** One tag of a list (8.8.3) and what ends it; tags may have commas in them. */
const listed = /[ \t]*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)")?[ \t]*(?:,|$)/y;

export function verdictOf(
  header: (name: string) => string | undefined,
  validators: Validators,
): Verdict {
  const match = header('if-match');
  if (match !== undefined) {
    if (!names(match, validators.etag, 'strong')) return 'failed';
  } else {
    const unmodified = dateOf(header('if-unmodified-since'));
    if (unmodified !== null && secondsOf(validators) > unmodified) return 'failed';
  }
  const noneMatch = header('if-none-match');
  if (noneMatch !== undefined) {
    return names(noneMatch, validators.etag, 'weak') ? 'unchanged' : 'send';
  }
  const modified = dateOf(header('if-modified-since'));
  return modified !== null && secondsOf(validators) <= modified ? 'unchanged' : 'send';
}

/**
 * Whether If-Range lets a range through (13.1.5). A date must be exactly ours: it is as good as a
 * tag, since what has our tag never changes.
 */
export function isRangeWanted(ifRange: string | undefined, validators: Validators): boolean {
  if (ifRange === undefined) return true;
  const asked = ifRange.trim();
  if (asked === `"${validators.etag}"`) return true;
  return parseHttpDate(asked) === secondsOf(validators);
}

/** Whether the list has our tag, or is `*`. One that is malformed has none (8.8.3.2). */
function names(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  let isFound = false;
  listed.lastIndex = 0;
  while (listed.lastIndex < list.length) {
    const found = listed.exec(list);
    if (found === null) return false;
    const [, weak, tag] = found;
    if (tag === etag && (comparison === 'weak' || weak === undefined)) isFound = true;
  }
  return isFound;
}

/** What is no date is ignored. */
function dateOf(header: string | undefined): number | null {
  return header === undefined ? null : parseHttpDate(header.trim());
}

/** As Last-Modified tells it. */
function secondsOf({ lastModifiedMs }: Validators): number {
  return lastModifiedMs - (lastModifiedMs % 1000);
}
