// Schemas of texts that people write and that are stored, logged or sent in a header. Patterns have
// no flags, which JSON Schema could not express: surrogate pairs match with and without `u`.
import * as v from 'valibot';

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not get through
const line = /^(?:[^\u0000-\u001f\u007f\ud800-\udfff]|[\ud800-\udbff][\udc00-\udfff])*$/;

/** One line of 1 to `lengthMax` UTF-16 units: no control characters, no half of a pair. */
export function lineOfText(lengthMax: number) {
  return v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(lengthMax),
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
