// What pages say in words: times, programs, scopes, and why something was refused.
import type { Refusal } from './call.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const dates = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const moments = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

export const dateText = (time: string): string => dates.format(new Date(time));
export const momentText = (time: string): string => moments.format(new Date(time));

/** `5 minutes ago`; what is long past has a date. */
export function agoText(time: string, nowMs = Date.now()): string {
  const pastMs = nowMs - Date.parse(time);
  if (pastMs < minuteMs) return 'just now';
  if (pastMs < hourMs) return ago.format(-Math.floor(pastMs / minuteMs), 'minute');
  if (pastMs < dayMs) return ago.format(-Math.floor(pastMs / hourMs), 'hour');
  if (pastMs < 14 * dayMs) return ago.format(-Math.floor(pastMs / dayMs), 'day');
  return `on ${dateText(time)}`;
}

/** `1 key`, `2 keys`. */
export const countText = (count: number, noun: string): string =>
  count === 1 ? `1 ${noun}` : `${count} ${noun}s`;

/** How long to wait, rounded up: who comes back then is not too early. */
export function waitText(seconds: number): string {
  if (seconds < 90) return countText(Math.max(1, Math.ceil(seconds)), 'second');
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? countText(minutes, 'minute') : countText(Math.ceil(minutes / 60), 'hour');
}

/** In the order in which they are asked; a browser that claims to be others as well comes first. */
const browsers = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/Chrome\/|\bCriOS\/|\bChromium\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const systems = [
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
] as const;

/** What a person calls the program; one that nobody knows has the name that it gives itself. */
export function programText(userAgent: string | null): string {
  const agent = userAgent?.trim() ?? '';
  if (agent === '') return 'An unknown program';
  const browser = browsers.find(([pattern]) => pattern.test(agent))?.[1];
  const system = systems.find(([pattern]) => pattern.test(agent))?.[1];
  const name = browser ?? (/^[^\s/(]{1,40}/.exec(agent)?.[0] || 'An unknown program');
  return system === undefined ? name : `${name} on ${system}`;
}

/** `203.0.113.x` for `203.0.113.0/24`: what it tells is the same, and more people can read it. */
export function networkText(network: string): string {
  return network.replace(/\.0\/24$/, '.x').replace(/::\/48$/, ':…');
}

/** Why the service says no, where the page has nothing better to say. */
export function refusalText({ status, reason, message, retryAfter }: Refusal): string {
  if (status === 0) return 'The server cannot be reached. Look at your connection, and try again.';
  if (status === 429) {
    return `That was too often. Try again in ${waitText(retryAfter ?? minuteMs / 1000)}.`;
  }
  if (reason === 'account_disabled')
    return 'This account is switched off. Ask who runs this service.';
  if (reason === 'signup_closed') return 'Nobody can make an account with this address here.';
  if (status >= 500) return 'This does not work at the moment. Try again in a minute.';
  return message === '' ? 'The server refused this.' : message;
}
