// What a model is asked of a page: the task's questions, and four with a known answer. Order and
// names follow from a nonce, so whoever goes on after a crash asks the same.
import { createHash } from 'node:crypto';

export interface TaskQuestion {
  text: string;
  /** A quote has one of these in it, in any case of letters. */
  terms: readonly string[];
}

export interface Question extends TaskQuestion {
  id: string;
  /** Null: it is the task's. Else the answer that is right. */
  known: 'yes' | 'no' | null;
}

/** Bytes that nobody can guess without the nonce, one after the other. */
function createChance(seed: string): () => number {
  let block = Buffer.alloc(0);
  let count = 0;
  return () => {
    if (block.length < 4) {
      block = createHash('sha256').update(`${seed}:${count}`).digest();
      count += 1;
    }
    const value = block.readUInt32BE(0);
    block = block.subarray(4);
    return value;
  };
}

const controlWordMin = 5;
const controlWordMax = 24;

/**
 * The questions of one round, shuffled. Null: the page has too few words to ask for any that is in
 * it.
 */
export function questionsOf(
  { nonce, round }: { nonce: string; round: number },
  questions: readonly TaskQuestion[],
  text: string,
): Question[] | null {
  const chance = createChance(`${nonce}:${round}`);
  const id = () => `q${chance().toString(36)}${chance().toString(36)}`;
  const words = wordsOf(text);
  if (words.length < 2) return null;
  const present = pickTwo(words, chance);
  const absent = [0, 1].map(() => absentWord(text, chance));
  const asked: Question[] = [
    ...questions.map((question): Question => ({ ...question, id: id(), known: null })),
    ...present.map((word) => controlOf(id(), word, 'yes')),
    ...absent.map((word) => controlOf(id(), word, 'no')),
  ];
  for (let at = asked.length - 1; at > 0; at -= 1) {
    const other = chance() % (at + 1);
    const [one, two] = [asked[at], asked[other]];
    if (one !== undefined && two !== undefined) [asked[at], asked[other]] = [two, one];
  }
  return asked;
}

function controlOf(id: string, word: string, known: 'yes' | 'no'): Question {
  return { id, known, terms: [word], text: `Does the word "${word}" stand in the text?` };
}

/** Words that a control may ask for, each once. */
function wordsOf(text: string): string[] {
  const found = text.match(/[\p{L}]+/gu) ?? [];
  return [...new Set(found)].filter(
    ({ length }) => length >= controlWordMin && length <= controlWordMax,
  );
}

function pickTwo(words: readonly string[], chance: () => number): string[] {
  const first = chance() % words.length;
  const second = (first + 1 + (chance() % (words.length - 1))) % words.length;
  return [words[first] ?? '', words[second] ?? ''];
}

const consonants = 'bdfgklmnprstvz';
const vowels = 'aeiou';

/** A word that nobody wrote, and that stands nowhere in the text. */
function absentWord(text: string, chance: () => number): string {
  const lower = text.toLowerCase();
  for (;;) {
    let word = '';
    for (let syllable = 0; syllable < 4; syllable += 1) {
      word += consonants.charAt(chance() % consonants.length);
      word += vowels.charAt(chance() % vowels.length);
    }
    if (!lower.includes(word)) return word;
  }
}
