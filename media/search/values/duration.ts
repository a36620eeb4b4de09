// How long something takes, and how far it is: numbers, `12:34`, `PT12M34S`, `1 hr 20 min`,
// `12.3 km`.
import { readDecimal } from './decimal.ts';
import { numberOf, wholeOf } from './number.ts';

/** A hundred days. */
const secondsMax = 8_640_000;
const metersMax = 1e8;
const unitSeconds: Readonly<Record<string, number>> = {
  ...{ d: 86_400, day: 86_400, days: 86_400 },
  ...{ h: 3_600, hr: 3_600, hrs: 3_600, hour: 3_600, hours: 3_600 },
  ...{ m: 60, min: 60, mins: 60, minute: 60, minutes: 60 },
  ...{ s: 1, sec: 1, secs: 1, second: 1, seconds: 1 },
};
const unitMeters: Readonly<Record<string, number>> = {
  ...{ m: 1, meter: 1, meters: 1, km: 1_000, kilometer: 1_000, kilometers: 1_000 },
  ...{ mi: 1_609.344, mile: 1_609.344, miles: 1_609.344, ft: 0.3048, feet: 0.3048 },
};

/** In seconds. */
export function durationOf(value: unknown): number | undefined {
  const number = numberOf(value, 0, secondsMax);
  if (number !== undefined) return Math.round(number);
  if (typeof value !== 'string' || value.length > 60) return undefined;
  const text = value.trim();
  const seconds = fromClock(text) ?? fromIso(text) ?? fromUnits(text);
  return seconds === undefined ? undefined : wholeOf(Math.round(seconds), 0, secondsMax);
}

/** `12:34` is minutes and seconds, `1:02:03` begins with hours. */
function fromClock(text: string): number | undefined {
  const found = /^(?:(\d{1,3}):)?(\d{1,3}):(\d{2})$/.exec(text);
  if (found === null) return undefined;
  const [hours, minutes, seconds] = [Number(found[1] ?? 0), Number(found[2]), Number(found[3])];
  if (seconds > 59 || (found[1] !== undefined && minutes > 59)) return undefined;
  return hours * 3_600 + minutes * 60 + seconds;
}

function fromIso(text: string): number | undefined {
  const found = /^P(?:(\d{1,3})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,6})S)?)?$/i.exec(text);
  const parts = found?.slice(1) ?? [];
  if (parts.every((part) => part === undefined)) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
  return days * 86_400 + hours * 3_600 + minutes * 60 + seconds;
}

function fromUnits(text: string): number | undefined {
  const words = text.toLowerCase().match(/\d+(?:\.\d+)?|[a-z]+|[^\s,\da-z]/g) ?? [];
  if (words.length === 0 || words.length % 2 === 1) return undefined;
  let sum = 0;
  for (let at = 0; at < words.length; at += 2) {
    const unit = ownOf(unitSeconds, words[at + 1]);
    const number = Number(words[at]);
    if (unit === undefined || Number.isNaN(number)) return undefined;
    sum += number * unit;
  }
  return sum;
}

/** In meters. */
export function distanceOf(value: unknown): number | undefined {
  const number = numberOf(value, 0, metersMax);
  if (number !== undefined) return Math.round(number);
  if (typeof value !== 'string' || value.length > 60) return undefined;
  const found = /^(\d[\d.,'’]*)\s*([a-z]+)$/i.exec(value.trim());
  const unit = ownOf(unitMeters, found?.[2]?.toLowerCase());
  const decimal = readDecimal(found?.[1] ?? '');
  if (unit === undefined || decimal === null) return undefined;
  return wholeOf(Math.round(Number(decimal) * unit), 0, metersMax);
}

function ownOf(units: Readonly<Record<string, number>>, name = ''): number | undefined {
  return Object.hasOwn(units, name) ? units[name] : undefined;
}
