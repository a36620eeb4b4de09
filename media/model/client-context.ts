// `client_context` as the model reads it: one line in front of the last user turn. Not in the
// system prompt, which all families put first: a time there empties every prompt cache each minute.
import type { ClientContext, ContentPart, GenerationRequest } from './request.ts';

const locationCharactersMax = 1_000;

/** The request with its client's context; the very same one when nothing is known of the client. */
export function withClientContext(request: GenerationRequest, nowMs: number): GenerationRequest {
  const { clientContext } = request.controls;
  const at = request.messages.findLastIndex(({ role }) => role === 'user');
  const message = request.messages[at];
  if (clientContext === null || message === undefined) return request;
  const line = contextLine(clientContext, nowMs);
  if (line === null) return request;
  const part: ContentPart = { type: 'text', text: line };
  const messages = request.messages.with(at, { ...message, parts: [part, ...message.parts] });
  return { ...request, messages, source: { ...request.source, rewritten: true } };
}

/** Null: the client said nothing of itself. */
export function contextLine(context: ClientContext, nowMs: number): string | null {
  const { timezone, utcOffsetMinutes, locale, temperatureUnit, location } = context;
  const facts: string[] = [];
  const time = localTime(timezone, utcOffsetMinutes, nowMs);
  if (time !== null) facts.push(`local time ${time}`);
  if (locale !== null) facts.push(`locale ${plain(locale)}`);
  if (temperatureUnit !== null) facts.push(`temperatures in degrees ${temperatureUnit}`);
  if (location !== null && Object.keys(location).length > 0) {
    facts.push(`location ${JSON.stringify(location).slice(0, locationCharactersMax)}`);
  }
  return facts.length === 0 ? null : `[About the user: ${facts.join('; ')}]\n`;
}

/** `Friday, 2026-11-20 21:15 (Europe/Berlin)`; null: neither zone nor offset is known. */
function localTime(
  timezone: string | null,
  utcOffsetMinutes: number | null,
  nowMs: number,
): string | null {
  if (timezone !== null) {
    const clock = clockOf(timezone);
    if (clock !== null) return `${readClock(clock, nowMs)} (${plain(timezone)})`;
  }
  if (utcOffsetMinutes === null) return null;
  const utc = clockOf('UTC');
  if (utc === null) return null;
  const minutes = Math.abs(utcOffsetMinutes);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const sign = utcOffsetMinutes < 0 ? '-' : '+';
  const offset = `UTC${sign}${two(minutes / 60)}:${two(minutes % 60)}`;
  return `${readClock(utc, nowMs + utcOffsetMinutes * 60_000)} (${offset})`;
}

const clocks = new Map<string, Intl.DateTimeFormat | null>();
/** There are about 600 zones; names come from clients. */
const clocksMax = 1_000;

/** Null: no such zone. Making one takes 50 µs, so they are kept. */
function clockOf(timeZone: string): Intl.DateTimeFormat | null {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  let clock: Intl.DateTimeFormat | null = null;
  try {
    clock = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
  } catch {
    // The name is the client's own.
  }
  if (clocks.size >= clocksMax) clocks.clear();
  clocks.set(timeZone, clock);
  return clock;
}

function readClock(clock: Intl.DateTimeFormat, nowMs: number): string {
  const parts = Object.fromEntries(
    clock.formatToParts(nowMs).map(({ type, value }) => [type, value]),
  );
  const { weekday, year, month, day, hour, minute } = parts;
  return `${weekday}, ${year}-${month}-${day} ${hour}:${minute}`;
}

/** One line of a client's own words. */
function plain(text: string): string {
  return text.replace(/[\s\]]+/g, ' ').trim();
}
