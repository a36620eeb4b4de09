// News: pages with who published them and when.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { webAddress } from '../fields.ts';
import { itemEntries, type ReadItem, type ReadingContext, readBase, titleOf } from '../item.ts';
import { pageOf } from '../values/address.ts';

export const newsItem = v.pipe(
  v.strictObject({ ...itemEntries, url: webAddress }),
  v.title('NewsItem'),
);

export function readNews(reading: Reading, context: ReadingContext): ReadItem | null {
  const { url, title, ...base } = readBase(reading, context);
  if (url === undefined) return null;
  return { item: { title: titleOf(title, url), url, ...base }, same: pageOf(url) };
}
