// Schemas of the values that items have: what the readers make, closed to everything else. They
// are what a reply is checked by before it leaves, and what is documented.
import * as v from 'valibot';
import { maxCharacters } from '../../runtime/http/text.ts';

/** No control, bidirectional or zero-width character. */
const seen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not get through
  /^[^\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$/;

export function shownText(charactersMax: number) {
  return v.pipe(
    v.string(),
    v.minLength(1),
    maxCharacters(charactersMax),
    v.regex(seen, 'expected text that is seen'),
  );
}

export const webAddress = v.pipe(
  v.string(),
  v.maxLength(2_048),
  v.regex(/^https?:\/\/[^\s/]\S*$/, 'expected an address of http or https'),
);

/** A day, or a moment in UTC. */
export const published = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}Z)?$/, 'expected an ISO date or moment'),
);

/** A local time, or a moment in UTC. */
export const time = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}Z)?$/, 'expected a local time or a moment'),
);

export const localTime = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/, 'expected a local time'),
);

export function whole(min: number, max: number) {
  return v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
}

export function between(min: number, max: number) {
  return v.pipe(v.number(), v.minValue(min), v.maxValue(max));
}

export const count = whole(0, 1e12);
export const rating = between(0, 5);
export const seconds = whole(0, 8_640_000);
export const meters = whole(0, 1e8);

export const price = v.pipe(
  v.strictObject({
    amount: v.pipe(
      v.string(),
      v.maxLength(30),
      v.regex(/^\d+(?:\.\d+)?$/, 'expected a decimal'),
      v.description('A decimal, as in 19.90.'),
    ),
    currency: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'expected a code of ISO 4217')),
  }),
  v.title('Price'),
);
