// Sources as they are looked up: which terms stand in which of their sentences. Made once for all
// sentences of a text.
import type { GroundingSource } from './contract.ts';
import { monthNumber } from './months.ts';
import { numeralsOf, readingsIn } from './numbers.ts';
import { sentencesOf } from './sentences.ts';
import { fold, termsIn } from './words.ts';

export interface IndexedSource {
  source: GroundingSource;
  sentences: readonly string[];
  /** Sentences of the text that have the term, in order; of the title alone: none. */
  places: ReadonlyMap<string, readonly number[]>;
}

export function numberTerm(reading: string): string {
  return `#${reading}`;
}

export function monthTerm(month: string): string {
  return `#month ${month}`;
}

export function indexSource(source: GroundingSource): IndexedSource {
  const sentences = sentencesOf(source.text).map(({ text }) => text);
  const places = new Map<string, number[]>();
  for (const [index, sentence] of sentences.entries()) {
    for (const term of allTerms(fold(sentence))) {
      const known = places.get(term);
      if (known === undefined) places.set(term, [index]);
      else if (known.at(-1) !== index) known.push(index);
    }
  }
  for (const term of allTerms(fold(source.title))) if (!places.has(term)) places.set(term, []);
  return { source, sentences, places };
}

function* allTerms(folded: string): Iterable<string> {
  for (const term of termsIn(folded)) {
    yield term;
    const month = monthNumber(term);
    if (month > 0) yield monthTerm(String(month));
  }
  for (const each of numeralsOf(folded)) for (const one of readingsIn(each)) yield numberTerm(one);
}
