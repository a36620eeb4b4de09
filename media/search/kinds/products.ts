// Things that are for sale: what each costs, and who sells it.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { count, price, rating, shownText } from '../fields.ts';
import {
  itemEntries,
  known,
  named,
  type ReadItem,
  type ReadingContext,
  readBase,
} from '../item.ts';
import { pageOf } from '../values/address.ts';
import { currencyOf } from '../values/currency.ts';
import { countOf, ratingOf } from '../values/number.ts';
import { priceOf } from '../values/price.ts';
import { textOf } from '../values/text.ts';

const sellerMax = 200;

export const productsItem = v.pipe(
  v.strictObject({
    ...itemEntries,
    price: v.exactOptional(price),
    seller: v.exactOptional(shownText(sellerMax)),
    rating: v.exactOptional(rating),
    rating_count: v.exactOptional(count),
  }),
  v.title('ProductsItem'),
);

export function readProduct(reading: Reading, context: ReadingContext): ReadItem | null {
  const { title, ...base } = readBase(reading, context);
  if (title === undefined) return null;
  const own = known({
    price: priceOf(reading.price, reading.currency, currencyOf(context.ask.parameters.gl)),
    seller: textOf(named(reading.seller), sellerMax),
    rating: ratingOf(reading.rating),
    rating_count: countOf(reading.ratingCount),
  });
  // One page may sell a thing at two prices.
  const same = base.url === undefined ? null : `${pageOf(base.url)} ${title} ${own.price?.amount}`;
  return { item: { title, ...base, ...own }, same };
}
