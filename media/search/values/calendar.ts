// Days and moments that exist, written in ISO. Years that no page is of are refused.

const dayMs = 86_400_000;
const yearMin = 1_500;
/** Clocks differ, and papers are dated ahead. */
const aheadMs = 366 * dayMs;

export interface Clock {
  hour: number;
  minute: number;
  second: number;
}

/** Midnight UTC of a day that exists; null: it does not. */
export function dayOf(year: number, month: number, day: number): number | null {
  // Years below 100 would be of the last century.
  if (year < 1_000 || year > 9_999) return null;
  const atMs = Date.UTC(year, month - 1, day);
  const date = new Date(atMs);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? atMs : null;
}

/** From midnight; null: no clock shows it. */
export function clockMs({ hour, minute, second }: Clock): number | null {
  if (hour > 23 || minute > 59 || second > 59) return null;
  return ((hour * 60 + minute) * 60 + second) * 1_000;
}

/** Milliseconds that `Z`, `+0100` or `-05:30` is ahead; null: no zone has it. */
export function offsetMs(zone: string): number | null {
  if (/^(?:z|utc|gmt)$/i.test(zone)) return 0;
  const found = /^([+-])(\d{2}):?(\d{2})$/.exec(zone);
  const [hours, minutes] = [Number(found?.[2] ?? 99), Number(found?.[3] ?? 99)];
  if (hours > 14 || minutes > 59) return null;
  return (found?.[1] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** `2026-01-03`; null: a page is not of that day. */
export function isoDate(atMs: number, nowMs: number): string | null {
  return isOfAPage(atMs, nowMs) ? new Date(atMs).toISOString().slice(0, 10) : null;
}

/** `2026-01-03T10:00:00Z`. */
export function isoMoment(atMs: number, nowMs: number): string | null {
  return isOfAPage(atMs, nowMs) ? `${new Date(atMs).toISOString().slice(0, 19)}Z` : null;
}

function isOfAPage(atMs: number, nowMs: number): boolean {
  return atMs >= Date.UTC(yearMin, 0, 1) && atMs <= nowMs + aheadMs;
}
