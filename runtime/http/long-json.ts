// A long request body to a JSON value, in turns of the loop of about two milliseconds: the checks
// and the answers of `parseJson`, whatever is cut where.
import { isUtf8 } from 'node:buffer';
import { fixedLimits } from '../limits.ts';
import { Problem } from '../problem.ts';
import { pausing } from '../turns.ts';
import { type Slice, SlicedValue, scanJson } from './json/slices.ts';
import {
  calls,
  mayHoldPrototypeKey,
  nestingDepthMax,
  notJson,
  notUtf8,
  positionOf,
  refusePrototypeKeys,
  textOf,
  tooDeep,
  withoutMark,
} from './json.ts';
import { mayHoldWholeNumber, readJson, roundBesideCalls } from './whole-numbers.ts';

const defaultSliceBytes = 64 * 1_024;

/**
 * Parses a body that is long (RFC 8259) as `parseJson` does. It resolves in a turn that has only
 * begun. The bytes must stay as they are until then.
 * @throws Problem invalid_request
 */
export async function parseLongJson(
  sent: Buffer,
  sliceBytes: number = defaultSliceBytes,
): Promise<unknown> {
  const bytes = withoutMark(sent);
  if (!isUtf8(bytes)) throw notUtf8();
  const pause = pausing();
  const scanning = scanJson(bytes, nestingDepthMax, sliceBytes, sliceBytes);
  let scan = scanning.next();
  for (; scan.done !== true; scan = scanning.next()) await pause();
  if (scan.value.tooDeep) throw tooDeep();
  if (scan.value.values > fixedLimits.body.longValuesMax) throw tooMany();
  const sliced = new SlicedValue(bytes, scan.value.cuts);
  const holdsCalls = bytes.includes(calls);
  let isSuspicious = false;
  let isExact = false;
  for (const slice of sliced.slices()) {
    await pause();
    const parsed = parseSlice(bytes, slice, holdsCalls);
    isSuspicious ||= parsed.isSuspicious;
    isExact ||= parsed.isExact;
    sliced.add(slice, parsed.value);
  }
  await pause(true);
  if (isSuspicious) refusePrototypeKeys(sliced.value, '');
  return isExact ? roundBesideCalls(sliced.value) : sliced.value;
}

function tooMany(): Problem {
  const { longValuesMax } = fixedLimits.body;
  const message = `The body has more than ${longValuesMax} members and items.`;
  return new Problem('invalid_request', { message });
}

interface ParsedSlice {
  value: unknown;
  isSuspicious: boolean;
  isExact: boolean;
}

function parseSlice(bytes: Buffer, slice: Slice, holdsCalls: boolean): ParsedSlice {
  const { prefix, suffix, textStart, textEnd } = slice;
  const text = textOf(bytes.subarray(textStart, textEnd)) ?? '';
  const isExact = holdsCalls && mayHoldWholeNumber(text);
  try {
    const json = prefix + text + suffix;
    const value: unknown = isExact ? readJson(json) : JSON.parse(json);
    return { value, isSuspicious: mayHoldPrototypeKey(text) && holdsPrototypeKey(value), isExact };
  } catch (error) {
    const position = positionOf(error);
    if (position === null) throw notJson(null);
    const before = textOf(bytes.subarray(0, textStart))?.length ?? 0;
    throw notJson(before + position - prefix.length);
  }
}

/** A key that may be refused: which are, the whole value says, a `constructor` may be far away. */
function holdsPrototypeKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsPrototypeKey);
  return Object.entries(value).some(
    ([key, member]) => key === '__proto__' || key === 'prototype' || holdsPrototypeKey(member),
  );
}
