// Days that are asked for: ISO dates, not before yesterday in UTC, at most 400 days ahead.
import { dayOf } from '../values/calendar.ts';
import { type Parameters, refuse, take } from './given.ts';

export const dayMs = 86_400_000;
const aheadDays = 400;
export const defaultAheadDays = 14;
const form = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Midnight UTC of today. */
function todayMs({ nowMs }: Parameters): number {
  return Math.floor(nowMs / dayMs) * dayMs;
}

export function isoDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Midnight UTC of so many days from today. */
export function dayAhead(parameters: Parameters, days: number): number {
  return todayMs(parameters) + days * dayMs;
}

/** Midnight UTC of the day; null: not given, or at fault. */
export function takeDay(parameters: Parameters, name: string): number | null {
  const value = take(parameters, name);
  if (value === undefined) return null;
  const found = typeof value === 'string' ? form.exec(value.trim()) : null;
  const atMs = found === null ? null : dayOf(Number(found[1]), Number(found[2]), Number(found[3]));
  if (atMs === null) return refuse(parameters, name, 'a date as in 2026-01-31');
  if (isInReach(parameters, atMs)) return atMs;
  return refuse(parameters, name, `a date from yesterday on, at most ${aheadDays} days ahead`);
}

/** Whether it is one of the days that may be asked for. */
function isInReach(parameters: Parameters, atMs: number): boolean {
  return atMs >= dayAhead(parameters, -1) && atMs < dayAhead(parameters, aheadDays + 1);
}

const momentForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?$/;

/** A moment in epoch seconds: ISO, in UTC where it says no zone, or the seconds themselves. */
export function takeMoment(parameters: Parameters, name: string): number | null {
  const value = take(parameters, name);
  if (value === undefined) return null;
  const seconds = typeof value === 'number' ? value : secondsOf(value);
  if (seconds === null || !Number.isInteger(seconds)) {
    return refuse(parameters, name, 'a moment as in 2026-01-31T08:30:00Z');
  }
  if (isInReach(parameters, seconds * 1_000)) return seconds;
  return refuse(parameters, name, `a moment from yesterday on, at most ${aheadDays} days ahead`);
}

function secondsOf(value: unknown): number | null {
  const text = typeof value === 'string' ? value.trim() : '';
  if (!momentForm.test(text)) return null;
  const day = form.exec(text.slice(0, 10)) ?? [];
  // The engine takes 30 February for a day of March.
  if (dayOf(Number(day[1]), Number(day[2]), Number(day[3])) === null) return null;
  const atMs = Date.parse(/(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(atMs) ? null : Math.floor(atMs / 1_000);
}
