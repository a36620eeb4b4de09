// Hotels: what a night and the whole stay cost, and what they offer.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { between, count, price, rating, shownText, whole } from '../fields.ts';
import {
  itemEntries,
  known,
  listOf,
  named,
  type ReadItem,
  type ReadingContext,
  readBase,
} from '../item.ts';
import { countOf, placeOf, ratingOf, wholeOf } from '../values/number.ts';
import { priceOf } from '../values/price.ts';
import { textsOf } from '../values/text.ts';

const amenitiesMax = 20;
const amenityMax = 100;

export const hotelsItem = v.pipe(
  v.strictObject({
    ...itemEntries,
    price_per_night: v.exactOptional(price),
    total_price: v.exactOptional(price),
    rating: v.exactOptional(rating),
    rating_count: v.exactOptional(count),
    hotel_class: v.exactOptional(v.pipe(whole(1, 5), v.description('Stars.'))),
    latitude: v.exactOptional(between(-90, 90)),
    longitude: v.exactOptional(between(-180, 180)),
    amenities: v.exactOptional(
      v.pipe(v.array(shownText(amenityMax)), v.minLength(1), v.maxLength(amenitiesMax)),
    ),
  }),
  v.title('HotelsItem'),
);

export function readHotel(reading: Reading, context: ReadingContext): ReadItem | null {
  const { title, ...base } = readBase(reading, context);
  if (title === undefined) return null;
  const currency = context.ask.parameters.hotels?.currency;
  const place = placeOf(reading.latitude, reading.longitude);
  const own = known({
    price_per_night: priceOf(reading.pricePerNight, reading.currency, currency),
    total_price: priceOf(reading.totalPrice, reading.currency, currency),
    rating: ratingOf(reading.rating),
    rating_count: countOf(reading.ratingCount),
    hotel_class: classOf(reading.hotelClass),
    ...place,
    amenities: amenitiesOf(reading.amenities),
  });
  const where = `${place.latitude} ${place.longitude} ${base.url ?? ''}`;
  const price = own.price_per_night ?? own.total_price;
  return { item: { title, ...base, ...own }, same: `${title} ${where} ${price?.amount}` };
}

/** `4`, or `4-star hotel`. */
function classOf(value: unknown): number | undefined {
  const found = typeof value === 'string' ? /^([1-5])(?![\d.,])/.exec(value.trim()) : null;
  return wholeOf(found === null ? value : Number(found[1]), 1, 5);
}

function amenitiesOf(value: unknown): string[] | undefined {
  const amenities = textsOf(
    listOf(value)
      .slice(0, 5 * amenitiesMax)
      .map(named),
    amenitiesMax,
    amenityMax,
  );
  return amenities.length === 0 ? undefined : amenities;
}
