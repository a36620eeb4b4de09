// What a conversation asks for: the terms, neighbouring pairs of terms and quotations of its user
// turns. A growing conversation only adds to them, so what extraction has kept once stays.
import { FIGURE, scanTerms, type TermList, WEAK } from './terms.ts';

export interface Asks {
  /** The number of each term that asks on its own; -1 for one that only asks in a pair. */
  readonly terms: Map<number, number>;
  readonly pairs: Map<number, number>;
  readonly quotations: string[];
  /** How many numbers are given out: terms and pairs together. */
  count: number;
}

const QUOTATION = /"([^"\n]{4,200})"|“([^”\n]{4,200})”|«([^»\n]{4,200})»|„([^“”\n]{4,200})[“”]/g;
const CODE_SPAN = /`([^`\n]{4,200})`/g;
const QUOTATIONS_MAX = 200;

/** Words that ask for nothing in languages that prompts are often written in. */
const STOPWORDS = `the and for are was were with that this from have has had not but you your what
when where which who whom why how can could would should will did does done been being there their
they them then than its our out about into over after before please tell give show find also just
der die das und ist ein eine nicht mit von den dem des auf für wie was wer war sind welche welcher
les des une est pas que qui dans pour sur avec quel quelle los las una por con para como cual fue
its all any each one two only very more most some such same did get got let may might must yes`;

const stopHashes: ReadonlySet<number> = new Set(hashesOf(STOPWORDS));

function hashesOf(text: string): number[] {
  const list: TermList = { hashes: [], weights: [] };
  scanTerms(text, 0, text.length, list);
  return list.hashes;
}

export function pairOf(left: number, right: number): number {
  return (Math.imul(left, 0x85ebca6b) ^ right) & 0x3fffffff;
}

export function createAsks(): Asks {
  return { terms: new Map(), pairs: new Map(), quotations: [], count: 0 };
}

/**
 * Adds what a text asks for. `figuresAndPairs`: only what is unlikely by chance, for the texts in
 * which an assistant mentions what it has seen.
 */
export function addAsks(asks: Asks, text: string, only: 'all' | 'figuresAndPairs'): void {
  const list: TermList = { hashes: [], weights: [] };
  scanTerms(text, 0, text.length, list);
  let before = 0;
  let beforeWeight = WEAK;
  let hasBefore = false;
  for (const [index, hash] of list.hashes.entries()) {
    const weight = list.weights[index] ?? WEAK;
    if (stopHashes.has(hash)) {
      hasBefore = false;
      continue;
    }
    const alone = only === 'all' ? weight !== WEAK : weight === FIGURE;
    const known = asks.terms.get(hash);
    if (alone && (known === undefined || known === -1)) asks.terms.set(hash, asks.count++);
    else if (known === undefined) asks.terms.set(hash, -1);
    if (hasBefore && (weight !== WEAK || beforeWeight !== WEAK)) {
      const pair = pairOf(before, hash);
      if (!asks.pairs.has(pair)) asks.pairs.set(pair, asks.count++);
    }
    before = hash;
    beforeWeight = weight;
    hasBefore = true;
  }
  if (only === 'all') addQuotations(asks, text);
}

function addQuotations(asks: Asks, text: string): void {
  for (const pattern of [QUOTATION, CODE_SPAN]) {
    for (const match of text.matchAll(pattern)) {
      const quotation = match.slice(1).find((group) => group !== undefined);
      if (quotation === undefined || asks.quotations.includes(quotation)) continue;
      if (asks.quotations.length < QUOTATIONS_MAX) asks.quotations.push(quotation);
    }
  }
}
