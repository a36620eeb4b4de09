// Whether a source bears out what a sentence says: half of its words, and all of its numbers.
import { withoutAddresses } from './addresses.ts';
import { withoutMarks } from './marks.ts';
import { type Numeral, numeralsOf } from './numbers.ts';
import { type IndexedSource, monthTerm, numberTerm } from './sources.ts';
import { contentWords, fold, termsOf } from './words.ts';

export interface Claim {
  /** The terms of each of its words. */
  words: readonly (readonly string[])[];
  /** They have two digits or more. */
  numbers: readonly Numeral[];
}

const shareMin = 0.5;
const quoteCharactersMax = 500;
/** `1.` and `-` before an item of a list say nothing. */
const itemMark = /^\s*(?:[-*•+#>]{1,6}|\d{1,3}[.)])\s+/;

export function claimOf(text: string): Claim {
  const said = withoutAddresses(withoutMarks(text.replace(itemMark, '')));
  const folded = fold(said);
  return {
    words: Array.from(contentWords(folded), termsOf),
    numbers: numeralsOf(folded).filter(({ digits }) => digits >= 2),
  };
}

export function saysNothing({ words, numbers }: Claim): boolean {
  return words.length === 0 && numbers.length === 0;
}

export function isSupported(claim: Claim, { places }: IndexedSource): boolean {
  if (saysNothing(claim)) return false;
  const { words, numbers } = claim;
  const found = words.filter((terms) => terms.every((term) => places.has(term))).length;
  if (found < words.length * shareMin) return false;
  return numbers.every((number) => hasNumber(places, number));
}

function hasNumber(places: IndexedSource['places'], number: Numeral): boolean {
  const { readings, parts, isOfDate, digits } = number;
  const isThere = (reading: string) =>
    places.has(numberTerm(reading)) || (isOfDate && places.has(monthTerm(reading)));
  if (readings.some(isThere)) return true;
  if (parts.length === 0) return digits < 2;
  return parts.every((part) => hasNumber(places, part));
}

/** The sentence of the source that shares most with it, the first of equals. */
export function quoteFor({ words, numbers }: Claim, indexed: IndexedSource): string {
  const { places, sentences, source } = indexed;
  const shared = new Map<number, number>();
  const note = (term: string) => {
    for (const place of places.get(term) ?? []) shared.set(place, (shared.get(place) ?? 0) + 1);
  };
  for (const terms of words) for (const term of terms) note(term);
  for (const { readings } of numbers) for (const each of readings) note(numberTerm(each));
  let best = -1;
  let most = 0;
  for (const [place, count] of shared) {
    if (count < most || (count === most && place > best)) continue;
    best = place;
    most = count;
  }
  const quote = sentences[best] ?? source.title;
  return Array.from(quote.slice(0, 2 * quoteCharactersMax))
    .slice(0, quoteCharactersMax)
    .join('');
}
