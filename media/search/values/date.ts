// When something was published: an ISO day or moment where the provider's words leave no doubt,
// and those words beside it.
import { readAgo } from './ago.ts';
import { clockMs, dayOf, isoDate, isoMoment, offsetMs } from './calendar.ts';
import { monthOf } from './months.ts';
import { cleanText, textOf } from './text.ts';

const textMax = 100;
const zonePattern = String.raw`(z|utc|gmt|[+-]\d{2}:?\d{2})`;
const clockPattern = String.raw`(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?`;
const iso = new RegExp(
  String.raw`^(\d{4})-(\d{2})-(\d{2})(?:[t ]${clockPattern} ?${zonePattern}?)?$`,
);
const rfc = new RegExp(
  String.raw`^(?:[a-z]{3}, )?(\d{1,2}) ([a-z]{3}) (\d{4}) ${clockPattern} ${zonePattern}$`,
);
const listed =
  /^(\d{2})\/(\d{2})\/(\d{4}), (\d{1,2}):(\d{2}) ([ap])m(?:, ([+-]\d{4})(?: (?:utc|gmt))?)?$/;
const monthFirst = /^([a-z]+)\.? (\d{1,2}),? (\d{4})$/;
const dayFirst = /^(\d{1,2})(?:\.|er)? (?:de )?([a-z]+)\.?,? (?:de )?(\d{4})$/;
const slashed = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;
const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;
const yearFirst = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/;
const digits = /^(?:\d{9,10}|\d{12,13})$/;
/** Epoch seconds are below it, milliseconds above. */
const secondsEnd = 1e11;
const epochMin = 1e8;

type Found = { dayMs: number } | { momentMs: number } | null;

export interface Published {
  published_at?: string;
  published_text?: string;
}

export function publishedOf(value: unknown, nowMs: number): Published {
  const at = dateOf(value, nowMs);
  const text = typeof value === 'string' ? textOf(value, textMax) : undefined;
  const isEpoch = text !== undefined && digits.test(text);
  return {
    ...(at === null ? {} : { published_at: at }),
    ...(text === undefined || isEpoch ? {} : { published_text: text }),
  };
}

/** `2026-01-03` or `2026-01-03T10:00:00Z`; null: it is not certain. */
export function dateOf(value: unknown, nowMs: number): string | null {
  const found = typeof value === 'number' ? fromEpoch(value) : fromText(value, nowMs);
  if (found === null) return null;
  return 'dayMs' in found ? isoDate(found.dayMs, nowMs) : isoMoment(found.momentMs, nowMs);
}

function fromEpoch(epoch: number): Found {
  if (!Number.isFinite(epoch) || epoch < epochMin) return null;
  return { momentMs: epoch < secondsEnd ? epoch * 1_000 : epoch };
}

function fromText(value: unknown, nowMs: number): Found {
  if (typeof value !== 'string' || value.length > 4 * textMax) return null;
  const text = bare(value);
  if (digits.test(text)) return fromEpoch(Number(text));
  const agoMs = readAgo(text);
  if (agoMs !== null) return { dayMs: nowMs - agoMs };
  return fromIso(text) ?? fromRfc(text) ?? fromListed(text) ?? fromDay(text);
}

/** Small letters without accents, blanks made one. */
function bare(value: string): string {
  const text = cleanText(value, textMax).toLowerCase();
  return text.normalize('NFKD').replace(/\p{M}/gu, '').replace(/\s+/g, ' ').trim();
}

/** A clock without a zone says the day alone. */
function moment(dayMs: number | null, clock: readonly (string | undefined)[], zone = ''): Found {
  if (dayMs === null) return null;
  const [hour, minute, second] = clock.map((part) => Number(part ?? 0));
  const inDayMs = clockMs({ hour: hour ?? 0, minute: minute ?? 0, second: second ?? 0 });
  if (inDayMs === null) return null;
  if (zone === '') return { dayMs };
  const zoneMs = offsetMs(zone);
  return zoneMs === null ? null : { momentMs: dayMs + inDayMs - zoneMs };
}

function fromIso(text: string): Found {
  const found = iso.exec(text);
  if (found === null) return null;
  const dayMs = dayOf(Number(found[1]), Number(found[2]), Number(found[3]));
  if (found[4] === undefined) return dayMs === null ? null : { dayMs };
  return moment(dayMs, found.slice(4, 7), found[7]);
}

/** `Sat, 03 Jan 2026 10:00:00 GMT` (RFC 1123, 5.2.14). */
function fromRfc(text: string): Found {
  const found = rfc.exec(text);
  const month = monthOf(found?.[2] ?? '');
  if (found === null || month === undefined) return null;
  return moment(dayOf(Number(found[3]), month, Number(found[1])), found.slice(4, 7), found[7]);
}

/** `01/03/2026, 07:00 AM, +0000 UTC`: the month is first, as the half of the day says. */
function fromListed(text: string): Found {
  const found = listed.exec(text);
  if (found === null) return null;
  const hour = Number(found[4]);
  if (hour < 1 || hour > 12) return null;
  const inDay = (hour % 12) + (found[6] === 'p' ? 12 : 0);
  const dayMs = dayOf(Number(found[3]), Number(found[1]), Number(found[2]));
  return moment(dayMs, [String(inDay), found[5]], found[7]);
}

function fromDay(text: string): Found {
  const named = monthFirst.exec(text);
  if (named !== null) return day(named[3], monthOf(named[1] ?? ''), named[2]);
  const behind = dayFirst.exec(text);
  if (behind !== null) return day(behind[3], monthOf(behind[2] ?? ''), behind[1]);
  const points = dotted.exec(text);
  if (points !== null) return day(points[3], Number(points[2]), points[1]);
  const year = yearFirst.exec(text);
  if (year !== null) return day(year[1], Number(year[2]), year[3]);
  return fromSlashes(slashed.exec(text));
}

/** Which is the month is certain where only one can be, or both are the same. */
function fromSlashes(found: RegExpExecArray | null): Found {
  const [, first = '', second = '', year] = found ?? [];
  const ways = [day(year, Number(first), second), day(year, Number(second), first)];
  if (first !== second && !ways.includes(null)) return null;
  return ways.find((way) => way !== null) ?? null;
}

function day(year: string | undefined, month: number | undefined, dayInMonth = ''): Found {
  const dayMs = month === undefined ? null : dayOf(Number(year), month, Number(dayInMonth));
  return dayMs === null ? null : { dayMs };
}

/** A local time, as timetables tell it: `2026-01-03T10:05`; undefined: it is none. */
export function localTimeOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > textMax) return undefined;
  const found = iso.exec(value.trim().toLowerCase());
  if (found?.[4] === undefined) return undefined;
  const dayMs = dayOf(Number(found[1]), Number(found[2]), Number(found[3]));
  if (moment(dayMs, found.slice(4, 7)) === null) return undefined;
  return `${found[1]}-${found[2]}-${found[3]}T${found[4]}:${found[5]}`;
}

/** A moment where the zone is said, else a local time. */
export function timeOf(value: unknown, nowMs: number): string | undefined {
  // What is planned lies further ahead than what was published.
  const at = dateOf(value, nowMs + 366 * 86_400_000);
  return at?.endsWith('Z') ? at : localTimeOf(value);
}
