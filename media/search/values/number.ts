// Numbers of a provider: as JSON has them, or as a text. Words are none, and what is out of range
// is not moved into it.
import { readDecimal } from './decimal.ts';

const plain = /^[+-]?\d{1,15}(?:\.\d{1,20})?$/;
const multiples: Readonly<Record<string, number>> = { k: 1e3, m: 1e6 };
const countMax = 1e12;

/** A number from `min` to `max`. */
export function numberOf(value: unknown, min: number, max: number): number | undefined {
  const number = typeof value === 'string' ? fromText(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  // Minus nothing is nothing.
  return number < min || number > max ? undefined : number + 0;
}

function fromText(text: string): number | undefined {
  const trimmed = text.length > 60 ? '' : text.trim();
  return plain.test(trimmed) ? Number(trimmed) : undefined;
}

/** A whole number from `min` to `max`. */
export function wholeOf(value: unknown, min: number, max: number): number | undefined {
  const number = numberOf(value, min, max);
  return number === undefined || !Number.isInteger(number) ? undefined : number;
}

/** How many: `1,234`, `(345)`, `1.2K`, `12 reviews`. */
export function countOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return wholeOf(value, 0, countMax);
  if (value.length > 60) return undefined;
  const found = /^\(?(\d[\d.,'’\s]*)([km])?(?![\p{L}\d])/iu.exec(value.trim());
  const digits = found?.[1]?.trim() ?? '';
  const unit = multiples[found?.[2]?.toLowerCase() ?? ''];
  const decimal = readDecimal(digits);
  if (decimal === null) return undefined;
  const number = unit === undefined ? Number(decimal) : Math.round(Number(decimal) * unit);
  return wholeOf(number, 0, countMax);
}

/** Stars of five: `4.5`, `4,5`, `4.5/5`. */
export function ratingOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return numberOf(value, 0, 5);
  const found = /^(\d(?:[.,]\d{1,9})?)(?:\s*\/\s*5)?$/.exec(value.trim().slice(0, 40));
  return found === null ? undefined : numberOf((found[1] ?? '').replace(',', '.'), 0, 5);
}

/** Both or neither: half a place is none. */
export function placeOf(latitude: unknown, longitude: unknown) {
  const north = numberOf(latitude, -90, 90);
  const east = numberOf(longitude, -180, 180);
  return north === undefined || east === undefined ? {} : { latitude: north, longitude: east };
}

/** `1920 x 1080`, with any sign between them. */
export function resolutionOf(value: unknown): { width?: number; height?: number } {
  if (typeof value !== 'string') return {};
  const found = /^(\d{1,6})\s*[x×*]\s*(\d{1,6})$/i.exec(value.trim().slice(0, 40));
  if (found === null) return {};
  const width = wholeOf(Number(found[1]), 1, pixelsMax);
  const height = wholeOf(Number(found[2]), 1, pixelsMax);
  return width === undefined || height === undefined ? {} : { width, height };
}

/** A side of a picture. */
export const pixelsMax = 100_000;
