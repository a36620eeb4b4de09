// Whole numbers that JavaScript rounds in silence, such as ids of 64 bits: clients of other
// languages read and write them. What may hold one, as the arguments of a call, keeps its digits
// from one JSON text to the next.
import { randomBytes } from 'node:crypto';

const doubleQuote = 34;
const backslash = 92;
/** Shorter ones are safe. */
const digitsMin = 16;
const manyDigits = new RegExp(`\\d{${digitsMin}}`);
const wholeNumber = new RegExp(`^-?\\d{${digitsMin},}$`);
/** What stands for a number in a text of our own; no other text can have it. */
const mark = `${randomBytes(16).toString('hex')}:`;
const marked = new RegExp(`"${mark}(-?\\d+)"`, 'g');

/** How many were written into the text that `writeJson` makes; null: another writer is at work. */
let written: number | null = null;

/** For everybody but `writeJson` it is a number like any other, rounded. */
export class WholeNumber extends Number {
  readonly digits: string;

  constructor(digits: string) {
    super(digits);
    this.digits = digits;
  }

  toJSON(): string | number {
    if (written === null) return this.valueOf();
    written += 1;
    return mark + this.digits;
  }
}

/**
 * `JSON.parse`, but what it would round is a `WholeNumber`.
 * @throws SyntaxError
 */
export function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!mayHoldWholeNumber(text)) return value;
  const told = markLarge(text);
  if (told === null) return value;
  return JSON.parse(told, (_name, member: unknown) =>
    typeof member === 'string' && member.startsWith(mark)
      ? new WholeNumber(member.slice(mark.length))
      : member,
  );
}

/** Whether `readJson` may find one. */
export function mayHoldWholeNumber(text: string): boolean {
  return manyDigits.test(text);
}

/**
 * Rounds in place what does not stand in the arguments of a call, as Messages have them: schemas
 * know numbers, and only what a model has written means a record by its digits.
 */
export function roundBesideCalls(value: unknown): unknown {
  if (value instanceof WholeNumber) return value.valueOf();
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    if (name === 'input' && members.type === 'tool_use') continue;
    members[name] = roundBesideCalls(members[name]);
  }
  return value;
}

/** `JSON.stringify`, but a `WholeNumber` is written as it was read. */
export function writeJson(value: unknown): string | undefined {
  written = 0;
  try {
    const text: string | undefined = JSON.stringify(value);
    return written === 0 ? text : text?.replace(marked, '$1');
  } finally {
    written = null;
  }
}

/** The text with each large number as a marked text; null: there is none. */
function markLarge(text: string): string | null {
  const pieces: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === doubleQuote) at = endOfString(text, at);
    else if (code === 45 || isDigit(code)) {
      const end = endOfNumber(text, at);
      const number = text.slice(at, end);
      if (wholeNumber.test(number) && !Number.isSafeInteger(Number(number))) {
        pieces.push(text.slice(copied, at), `"${mark}${number}"`);
        copied = end;
      }
      at = end - 1;
    }
  }
  return copied === 0 ? null : pieces.join('') + text.slice(copied);
}

/** Signs, digits, points and exponents: what else stands there, `JSON.parse` has refused. */
function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && /[\d.eE+-]/.test(text[end] ?? '')) end += 1;
  return end;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Where a string that begins at `start` ends. */
export function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
}
