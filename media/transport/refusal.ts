// What refusals mean in every family (decisions.md, section 2): the kind of a status, and how long
// a provider asks to be left alone. Its own text goes into `detail`, for the log alone.
import type { UpstreamFailure } from '../model/events.ts';
import { isMembers, wordOf } from './members.ts';
import { placeIn } from './place.ts';

export const detailCharactersMax = 500;
export const retryAfterMsMax = 24 * 3600 * 1000;
/** All three forms of one begin so (RFC 9110, 5.6.7). */
const httpDate = /^\s*(?:mon|tue|wed|thu|fri|sat|sun)/i;

export function kindOfStatus(status: number): UpstreamFailure['kind'] {
  switch (status) {
    case 429:
      return 'busy';
    case 408:
      return 'timeout';
    case 400:
    case 413:
    case 422:
      return 'rejected';
    default:
      return 'failed';
  }
}

/** RFC 9110, 10.2.3: seconds or a date; `retry-after-ms` is more exact where it is sent. */
export function retryAfterMs(headers: Record<string, string>): number | null {
  const exact = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (exact >= 0) return Math.min(Math.ceil(exact), retryAfterMsMax);
  const header = headers['retry-after'];
  if (header === undefined) return null;
  // Of a proxy that repeats it, the first one.
  const seconds = /^\s*(\d+(?:\.\d+)?)\s*(?:,|$)/.exec(header)?.[1];
  if (seconds !== undefined) {
    return Math.min(Math.ceil(Number.parseFloat(seconds) * 1000), retryAfterMsMax);
  }
  // JavaScript takes `-1` for a date of 2001, which would be a wish not to wait at all.
  const date = httpDate.test(header) ? Date.parse(header) : Number.NaN;
  if (Number.isNaN(date)) return null;
  return Math.min(Math.max(0, date - Date.now()), retryAfterMsMax);
}

/**
 * Classifies a reply that is not 2xx, where its status says all: `members` of its error are the
 * detail.
 */
export function failureOfReply(
  status: number,
  headers: Record<string, string>,
  body: string,
  members: readonly string[],
): UpstreamFailure {
  const error = errorIn(body);
  const detail = detailOf(error, members);
  const retry = retryAfterMs(headers);
  return withPlace({ kind: kindOfStatus(status), status, retryAfterMs: retry, detail }, error);
}

/** A refusal of what is asked, with the place that its error names. */
export function withPlace(failure: UpstreamFailure, error: unknown): UpstreamFailure {
  const place = failure.kind === 'rejected' ? placeIn(error) : null;
  return place === null ? failure : { ...failure, place };
}

/** The error of a body: its member `error`, else all of it; the text itself where it is no JSON. */
export function errorIn(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body);
    if (isMembers(parsed)) return parsed.error ?? parsed;
  } catch {
    // The text itself is the detail.
  }
  return body;
}

/** What the members of an error say that it has. */
export function detailOf(error: unknown, members: readonly string[]): string {
  if (typeof error === 'string') return error.slice(0, detailCharactersMax);
  if (!isMembers(error)) return '';
  const parts = members.map((name) => error[name]).filter((part) => part !== undefined);
  return parts.map(wordOf).join(': ').slice(0, detailCharactersMax);
}

/** A failure that no status tells: a cut, nonsense, an error inside a stream. */
export function plainFailure(kind: UpstreamFailure['kind'], detail: string): UpstreamFailure {
  return { kind, status: null, retryAfterMs: null, detail: detail.slice(0, detailCharactersMax) };
}
