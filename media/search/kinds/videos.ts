// Videos: the page of each, how long it plays, and whose it is.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { seconds, shownText, webAddress } from '../fields.ts';
import {
  itemEntries,
  known,
  named,
  type ReadItem,
  type ReadingContext,
  readBase,
  titleOf,
} from '../item.ts';
import { pageOf } from '../values/address.ts';
import { durationOf } from '../values/duration.ts';
import { textOf } from '../values/text.ts';

const channelMax = 200;

export const videosItem = v.pipe(
  v.strictObject({
    ...itemEntries,
    url: webAddress,
    duration_seconds: v.exactOptional(seconds),
    channel: v.exactOptional(shownText(channelMax)),
  }),
  v.title('VideosItem'),
);

export function readVideo(reading: Reading, context: ReadingContext): ReadItem | null {
  const { url, title, ...base } = readBase(reading, context);
  if (url === undefined) return null;
  const own = known({
    duration_seconds: durationOf(reading.duration),
    channel: textOf(named(reading.channel), channelMax),
  });
  return { item: { title: titleOf(title, url), url, ...base, ...own }, same: pageOf(url) };
}
