// Places: where each is, when it is open, and what people think of it.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { between, count, rating, shownText, webAddress } from '../fields.ts';
import { itemEntries, known, type ReadItem, type ReadingContext, readBase } from '../item.ts';
import { addressOf } from '../values/address.ts';
import { countOf, placeOf, ratingOf } from '../values/number.ts';
import { cleanText, textOf, textsOf } from '../values/text.ts';

const addressMax = 300;
const wordsMax = 100;
const idMax = 200;
const hoursCount = 14;
const hoursMax = 120;

export const placesItem = v.pipe(
  v.strictObject({
    ...itemEntries,
    address: v.exactOptional(shownText(addressMax)),
    latitude: v.exactOptional(between(-90, 90)),
    longitude: v.exactOptional(between(-180, 180)),
    rating: v.exactOptional(rating),
    rating_count: v.exactOptional(count),
    category: v.exactOptional(shownText(wordsMax)),
    phone: v.exactOptional(shownText(wordsMax)),
    website: v.exactOptional(webAddress),
    opening_hours: v.exactOptional(
      v.pipe(
        v.array(shownText(hoursMax)),
        v.minLength(1),
        v.maxLength(hoursCount),
        v.description('A line each, as in `Monday: 9–17`.'),
      ),
    ),
    place_id: v.exactOptional(shownText(idMax)),
  }),
  v.title('PlacesItem'),
);

export function readPlace(reading: Reading, context: ReadingContext): ReadItem | null {
  const { title, ...base } = readBase(reading, context);
  if (title === undefined) return null;
  const own = known({
    address: textOf(reading.address, addressMax),
    ...placeOf(reading.latitude, reading.longitude),
    rating: ratingOf(reading.rating),
    rating_count: countOf(reading.ratingCount),
    category: categoryOf(reading.category),
    phone: phoneOf(reading.phone),
    website: addressOf(reading.website),
    opening_hours: hoursOf(reading.openingHours),
    place_id: textOf(reading.placeId, idMax),
  });
  const where = own.place_id ?? own.address ?? base.url;
  const same = where === undefined ? null : `${title.toLowerCase()} ${where}`;
  return { item: { title, ...base, ...own }, same };
}

/** The first of several is the one that counts. */
function categoryOf(value: unknown): string | undefined {
  return textOf(Array.isArray(value) ? value[0] : value, wordsMax);
}

function phoneOf(value: unknown): string | undefined {
  const phone = textOf(value, wordsMax);
  return phone !== undefined && /\d/.test(phone) ? phone : undefined;
}

function hoursOf(value: unknown): string[] | undefined {
  const lines = textsOf(linesOf(value), hoursCount, hoursMax);
  return lines.length === 0 ? undefined : lines;
}

/** A text, a list, or an object by weekday. */
function linesOf(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.slice(0, hoursCount).map(lineOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .slice(0, hoursCount)
    .map(([day, hours]) => {
      const times = textsOf(Array.isArray(hours) ? hours : [hours], hoursCount, hoursMax);
      return times.length === 0 ? '' : `${cleanText(day, wordsMax)}: ${times.join(', ')}`;
    });
}

/** `{day, hours}` stands in lists. */
function lineOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const texts = textsOf(Object.values(value), 2, hoursMax);
  return texts.join(': ');
}
