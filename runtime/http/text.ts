// Schemas of texts that people write and that are stored, logged or sent in a header. Patterns have
// no flags, which JSON Schema could not express: surrogate pairs match with and without `u`.
import * as v from 'valibot';
import { pieceEnd } from './json-pieces.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not get through
const line = /^(?:[^\u0000-\u001f\u007f\ud800-\udfff]|[\ud800-\udbff][\udc00-\udfff])*$/;

/** Unicode code points; half a surrogate pair is one. */
export function countCharacters(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // The second half of a pair is no character of its own; half a pair is one.
    const isSecond = unit >= 0xdc00 && unit <= 0xdfff && index > 0;
    const before = isSecond ? text.charCodeAt(index - 1) : 0;
    if (!(before >= 0xd800 && before <= 0xdbff)) count += 1;
  }
  return count;
}

/** The begin of a text, whole characters: providers refuse a request with half a surrogate pair. */
export function cutText(text: string, unitsMax: number): string {
  return text.slice(0, pieceEnd(text, 0, unitsMax));
}

/** The end of a text, likewise. */
export function endOfText(text: string, unitsMax: number): string {
  return text.slice(-unitsMax).replace(/^[\udc00-\udfff]/, '');
}

/**
 * `v.maxLength` for texts, in code points as JSON Schema counts (draft 2020-12, 6.3.1). More units
 * than twice the bound cannot be few enough characters, so that no long text is counted.
 */
export function maxCharacters(max: number) {
  const inUnits = v.maxLength<string, number>(max);
  const run: (typeof inUnits)['~run'] = (dataset, config) => {
    const { value } = dataset;
    const isShort = typeof value === 'string' && value.length <= 2 * max;
    if (isShort && (value.length <= max || countCharacters(value) <= max)) return dataset;
    return inUnits['~run'](dataset, config);
  };
  return { ...inUnits, '~run': run };
}

/** One line of 1 to `lengthMax` characters: no control characters, no half of a pair. */
export function lineOfText(lengthMax: number) {
  return v.pipe(
    v.string(),
    v.minLength(1),
    maxCharacters(lengthMax),
    v.regex(line, 'expected one line of text without control characters'),
  );
}

/** Printable ASCII without spaces, as a credential or an address is in a header. */
export function visibleAscii(lengthMax: number) {
  return v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(lengthMax),
    v.regex(/^[\x21-\x7e]*$/, 'expected visible ASCII characters alone'),
  );
}
