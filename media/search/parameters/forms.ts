// Readers of one known parameter: null where it is not given, and where it is at fault, which is
// then told.
import type { ParameterValue } from '../contract.ts';
import { currencyCode } from '../values/currency.ts';
import { type Parameters, refuse, take } from './given.ts';
import { listMax, valueCharactersMax } from './names.ts';

/** Values that may be parameters: no object, no list in a list, no number that JSON has not. */
export function isForm(value: unknown): value is ParameterValue {
  return Array.isArray(value) ? value.every(isScalar) : isScalar(value);
}

function isScalar(value: unknown): value is string | number | boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'boolean';
}

/** Within the bounds of what is passed on as it is. */
export function isShort(value: ParameterValue): boolean {
  if (Array.isArray(value)) return value.length <= listMax && value.every(isShort);
  return typeof value !== 'string' || [...value].length <= valueCharactersMax;
}

export function takeWhole(
  parameters: Parameters,
  name: string,
  min: number,
  max: number,
): number | null {
  const value = take(parameters, name);
  if (value === undefined) return null;
  const isDigits = typeof value === 'string' && /^\s*\d{1,9}\s*$/.test(value);
  const number = isDigits ? Number(value) : value;
  const isGood = Number.isInteger(number) && Number(number) >= min && Number(number) <= max;
  return isGood
    ? Number(number) + 0
    : refuse(parameters, name, `a whole number from ${min} to ${max}`);
}

/** One of the words, in any case, with any mark between its parts. */
export function takeWord<T extends string>(
  parameters: Parameters,
  name: string,
  words: readonly T[],
): T | null {
  const value = take(parameters, name);
  if (value === undefined) return null;
  const word = typeof value === 'string' ? value.trim().toLowerCase().replace(/[\s-]/g, '_') : '';
  const found = words.find((each) => each === word);
  return found ?? refuse(parameters, name, `one of ${words.join(', ')}`);
}

export function takeText(parameters: Parameters, name: string): string | null {
  const value = take(parameters, name);
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value.toWellFormed().normalize('NFC').trim() : '';
  const isGood = text !== '' && isShort(text);
  return isGood
    ? text
    : refuse(parameters, name, `a text of 1 to ${valueCharactersMax} characters`);
}

/** A list, or one text with commas between its parts; trimmed, without empty ones. */
export function takeList(
  parameters: Parameters,
  name: string,
): readonly (string | number | boolean)[] | null {
  const value = take(parameters, name);
  if (value === undefined) return null;
  const list =
    typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [value];
  if (list.length > listMax) return refuse(parameters, name, `a list of at most ${listMax}`);
  return list
    .map((each) => (typeof each === 'string' ? each.trim() : each))
    .filter((each) => each !== '');
}

export function takeCurrency(parameters: Parameters): string | null {
  const value = take(parameters, 'currency');
  if (value === undefined) return null;
  return currencyCode(value) ?? refuse(parameters, 'currency', 'a currency of ISO 4217');
}
