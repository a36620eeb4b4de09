// Pictures: the address of each, and the page that shows it.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { webAddress, whole } from '../fields.ts';
import {
  itemEntries,
  known,
  type ReadItem,
  type ReadingContext,
  readBase,
  titleOf,
} from '../item.ts';
import { addressOf, pageOf } from '../values/address.ts';
import { pixelsMax, resolutionOf, wholeOf } from '../values/number.ts';

const pixels = whole(1, pixelsMax);

export const imagesItem = v.pipe(
  v.strictObject({
    ...itemEntries,
    image_url: webAddress,
    width: v.exactOptional(pixels),
    height: v.exactOptional(pixels),
  }),
  v.title('ImagesItem'),
);

export function readImage(reading: Reading, context: ReadingContext): ReadItem | null {
  const imageUrl = addressOf(reading.imageUrl);
  if (imageUrl === undefined) return null;
  const { title, ...base } = readBase(reading, context);
  const item = {
    title: titleOf(title, base.url ?? imageUrl),
    ...base,
    image_url: imageUrl,
    ...sizeOf(reading),
  };
  return { item, same: pageOf(imageUrl) };
}

function sizeOf(reading: Reading): { width?: number; height?: number } {
  const size = known({
    width: wholeOf(reading.width, 1, pixelsMax),
    height: wholeOf(reading.height, 1, pixelsMax),
  });
  return { ...resolutionOf(reading.resolution), ...size };
}
