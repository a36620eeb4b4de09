// Plain sentences: which words open none, and how long one may be.

const SENTENCE_WORDS_MAX = 25;
const OPENING = /^(Of|Whose|Those|That|Since|By)\b/;
/** A point after one of these ends no sentence. */
const ABBREVIATION = /(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|no|resp)|\.\.)\.$/i;

/** Code, links and addresses are one word each, without a point inside. */
function simplify(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, 'link')
    .replace(/(`+)[\s\S]*?\1/g, 'code')
    .replace(/\bhttps?:\/\/[^\s)>]+/g, 'link');
}

/** A sentence ends with a point, a question mark or an exclamation mark before a space. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  let open = '';
  for (const part of simplify(text).split(/(?<=[.!?]["')\]*_]*)\s+/)) {
    open = open === '' ? part : `${open} ${part}`;
    if (ABBREVIATION.test(open)) continue;
    sentences.push(open);
    open = '';
  }
  if (open.trim() !== '') sentences.push(open);
  return sentences;
}

export function wordsIn(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** What is wrong with a text that stands on its own; each finding is one fragment. */
export function faultsOf(text: string): string[] {
  const opening = OPENING.exec(text.replace(/^[*_"'(]+/, ''));
  const faults = opening === null ? [] : [`opens with "${excerpt(text)}"`];
  for (const sentence of sentencesOf(text)) {
    const words = wordsIn(sentence);
    if (words > SENTENCE_WORDS_MAX) faults.push(`${words} words: "${excerpt(sentence)}"`);
  }
  return faults;
}

function excerpt(text: string): string {
  const words = text.split(/\s+/);
  return words.length > 8 ? `${words.slice(0, 8).join(' ')} …` : words.join(' ');
}
