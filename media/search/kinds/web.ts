// Pages of the web. Those of `ai_search` have a score and their content as well.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { between, shownText, webAddress } from '../fields.ts';
import {
  itemEntries,
  type ReadItem,
  type ReadingContext,
  readBase,
  titleOf,
  type Unplaced,
} from '../item.ts';
import { pageOf } from '../values/address.ts';
import { numberOf } from '../values/number.ts';
import { textOf } from '../values/text.ts';

const contentMax = 4_000;

export const pageEntries = {
  ...itemEntries,
  url: webAddress,
  score: v.exactOptional(
    v.pipe(between(0, 1), v.description('Of `ai_search`: how well it fits, falling.')),
  ),
  content: v.exactOptional(
    v.pipe(shownText(contentMax), v.description('Of `ai_search`: text of the page.')),
  ),
};

export const webItem = v.pipe(v.strictObject(pageEntries), v.title('WebItem'));

export function readWeb(reading: Reading, context: ReadingContext): ReadItem | null {
  const { url, title, ...base } = readBase(reading, context);
  if (url === undefined) return null;
  const item: Unplaced = { title: titleOf(title, url), url, ...base };
  if (context.ask.surface === 'ai_search') {
    const score = numberOf(reading.score, 0, 1);
    if (score !== undefined) item.score = score;
    const content = textOf(reading.content, contentMax) ?? base.snippet;
    if (content !== undefined) item.content = content;
  }
  return { item, same: pageOf(url) };
}

/** The best comes first. Where one has no score, all have what their place says. */
export function scored(items: readonly Unplaced[]): Unplaced[] {
  if (items.every(({ score }) => score !== undefined)) {
    return items.toSorted((left, right) => (right.score ?? 0) - (left.score ?? 0));
  }
  return items.map((item, at) => ({ ...item, score: Number((1 / (at + 1)).toFixed(4)) }));
}
