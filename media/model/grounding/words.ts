// The words by which a sentence and a source are compared. Words of scripts without blanks are
// found in a source by their pairs of characters: it need not be cut into words, which is dear.
import { stopWords } from './stop-words.ts';

const denseScripts = [
  'Han',
  'Hiragana',
  'Katakana',
  'Hangul',
  'Thai',
  'Lao',
  'Khmer',
  'Myanmar',
].map((name) => `\\p{Script=${name}}`);
const dense = new RegExp(`[${denseScripts.join('')}]`, 'u');
const runs = new RegExp(
  `[${denseScripts.join('')}ー々]+|(?:(?![${denseScripts.join('')}])[\\p{L}\\p{M}\\p{N}])+`,
  'gu',
);
const plainRuns = /[\p{L}\p{M}\p{N}]+/gu;
const hangul = /^\p{Script=Hangul}{3,}$/u;
const raised = /[\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089]+/g;
/** Digits of other scripts: the zero of each. */
const zeros = [0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66];
const moreZeros = [0xe50, 0xed0, 0xf20, 0x1040, 0x17e0, 0x1810];
const foreignDigits = /(?![0-9])\p{Nd}/gu;
/** What takes longer to cut than it is long is cut in parts. */
const runLengthMax = 256;
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** NFKC in small letters, with ASCII digits. Raised ones are notes and powers, not digits. */
export function fold(text: string): string {
  const plain = text.replace(raised, ' ').normalize('NFKC').toLowerCase();
  return plain.replace(foreignDigits, digitOf);
}

function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const zero = [...zeros, ...moreZeros].find((each) => code >= each && code < each + 10);
  return zero === undefined ? character : String(code - zero);
}

/** What of a folded text says what it is about, each once. */
export function contentWords(folded: string): Set<string> {
  const words = new Set<string>();
  const isDense = dense.test(folded);
  for (const [run] of folded.matchAll(isDense ? runs : plainRuns)) {
    if (isDense && dense.test(run)) addDense(words, run);
    else if (isContent(run)) words.add(run);
  }
  return words;
}

/** The terms of a folded source, in the order in which they stand. */
export function* termsIn(folded: string): Iterable<string> {
  const isDense = dense.test(folded);
  for (const [run] of folded.matchAll(isDense ? runs : plainRuns)) {
    if (!isDense || !dense.test(run)) yield run;
    else yield* pairsAndSingles(run);
  }
}

/** The terms that a source has if it has the word. */
export function termsOf(word: string): string[] {
  if (!dense.test(word)) return [word];
  const characters = Array.from(word);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => (characters[index] ?? '') + character);
}

function* pairsAndSingles(run: string): Iterable<string> {
  let before = '';
  for (const character of run) {
    yield character;
    if (before !== '') yield before + character;
    before = character;
  }
}

function addDense(words: Set<string>, run: string): void {
  for (let at = 0; at < run.length; at += runLengthMax) {
    for (const { segment, isWordLike } of segmenter.segment(run.slice(at, at + runLengthMax))) {
      if (isWordLike !== true || stopWords.has(segment)) continue;
      // The last syllable of a Korean word is mostly a particle.
      words.add(hangul.test(segment) ? segment.slice(0, -1) : segment);
    }
  }
}

function isContent(run: string): boolean {
  return run.length > 1 && !/^\p{N}+$/u.test(run) && !stopWords.has(run);
}
