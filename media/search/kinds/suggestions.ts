// What people ask for that begins so: the words alone.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { itemEntries, type ReadItem, titleMax } from '../item.ts';
import { textOf } from '../values/text.ts';

const { position, title } = itemEntries;

export const suggestionsItem = v.pipe(
  v.strictObject({ position, title }),
  v.title('SuggestionsItem'),
);

export function readSuggestion(reading: Reading): ReadItem | null {
  const words = textOf(reading.title, titleMax);
  return words === undefined ? null : { item: { title: words }, same: words.toLowerCase() };
}
