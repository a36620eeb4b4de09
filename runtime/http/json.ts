// Bytes to a JSON value that is safe to hand on: valid UTF-8, bounded nesting, no prototype keys.
// The checks look for suspicious text first, so that an ordinary body pays for JSON.parse alone.
import { isAscii, isUtf8 } from 'node:buffer';
import { Problem } from '../problem.ts';
import { fieldProblem } from './validate.ts';
import { endOfString, mayHoldWholeNumber, readJson, roundBesideCalls } from './whole-numbers.ts';

/** Deeper values overflow the stack of anything recursive that handles them later. */
export const nestingDepthMax = 512;
/** In a body that may hold calls of Messages, whose arguments are JSON of their own. */
export const calls = '"tool_use"';
const doubleQuote = 34;

/** What becomes of keys that name prototypes: a 400, or one more name with a space behind it. */
export type PrototypeKeys = 'refused' | 'spaced';

/** Parses a request body (RFC 8259). Every fault is a 400. */
export function parseJson(sent: Buffer, prototypeKeys: PrototypeKeys = 'refused'): unknown {
  const bytes = withoutMark(sent);
  if (bytes.length === 0) throw invalid('A JSON body is required.');
  const text = textOf(bytes);
  if (text === null) throw notUtf8();
  if (text.length > 2 * nestingDepthMax && nestsTooDeep(text)) throw tooDeep();
  const isExact = text.includes(calls) && mayHoldWholeNumber(text);
  let value: unknown;
  try {
    value = isExact ? readJson(text) : JSON.parse(text);
  } catch (error) {
    throw notJson(positionOf(error));
  }
  if (prototypeKeys === 'spaced') value = withSpacedKeys(value, text);
  else if (mayHoldPrototypeKey(text)) refusePrototypeKeys(value, '');
  return isExact ? roundBesideCalls(value) : value;
}

/**
 * Without a byte order mark, which a parser may ignore (RFC 8259, 8.1): the writers of .NET that
 * are told UTF-8 begin with one, as editors of Windows do.
 */
export function withoutMark(bytes: Buffer): Buffer {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? bytes.subarray(3) : bytes;
}

/** The text of UTF-8 bytes, or null when they are not valid UTF-8. */
export function textOf(bytes: Buffer): string | null {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

export function notUtf8(): Problem {
  return invalid('The body is not valid UTF-8.');
}

export function tooDeep(): Problem {
  return invalid(`The body is nested deeper than ${nestingDepthMax} levels.`);
}

/** `position`: of the character at fault; null: it is not known. */
export function notJson(position: number | null): Problem {
  return invalid(`The body is not valid JSON${position ? ` (at position ${position})` : ''}.`);
}

/** Where `JSON.parse` gave up; null: its error does not say. */
export function positionOf(error: unknown): number | null {
  const found = error instanceof SyntaxError ? /position (\d+)/.exec(error.message) : null;
  return found === null ? null : Number(found[1]);
}

function invalid(message: string): Problem {
  return new Problem('invalid_request', { message });
}

/** The keys themselves, or an escaped ASCII letter that may be part of one. Searching for a key
 * with its quote is 20 times slower: quotes are everywhere. */
export function mayHoldPrototypeKey(text: string): boolean {
  return text.includes('__proto__') || text.includes('prototype') || text.includes('\\u00');
}

export function refusePrototypeKeys(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      refusePrototypeKeys(item, `${path}[${index}]`);
    });
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    const memberPath = path === '' ? key : `${path}.${key}`;
    const reachesPrototype =
      key === 'constructor' &&
      typeof member === 'object' &&
      member !== null &&
      Object.hasOwn(member, 'prototype');
    if (key === '__proto__' || reachesPrototype) {
      throw fieldProblem(memberPath, `The property '${key}' is not allowed.`);
    }
    refusePrototypeKeys(member, memberPath);
  }
}

const prototypeNames: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

/** The same value, where no key names a prototype: schemas of open objects lose those unseen. */
function withSpacedKeys(value: unknown, text: string): unknown {
  return mayHoldPrototypeKey(text) || text.includes('constructor') ? spaced(value) : value;
}

function spaced(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(spaced);
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => {
    return [prototypeNames.has(key) ? `${key} ` : key, spaced(member)];
  });
  return Object.fromEntries(entries);
}

/** Counts brackets outside strings; strings are skipped at the speed of indexOf. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === doubleQuote) index = endOfString(text, index);
    else if (code === 91 || code === 123) {
      depth += 1;
      if (depth > nestingDepthMax) return true;
    } else if (code === 93 || code === 125) depth -= 1;
  }
  return false;
}
