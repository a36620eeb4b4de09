// Cuts a query to what a provider reads: at a word where there is one, else at a character.

/** A word that takes more of the text than this is cut in the middle. */
const wordShareMax = 0.5;

/**
 * The longest beginning whose characters cost no more in all.
 * @param costOf what one code point costs; 1 where it is left out
 */
export function cutQuery(
  query: string,
  costMax: number,
  costOf: (character: string) => number = () => 1,
): string {
  let cost = 0;
  let end = 0;
  for (const character of query) {
    cost += costOf(character);
    if (cost > costMax) return beforeCutWord(query, end);
    end += character.length;
  }
  return query;
}

function beforeCutWord(query: string, end: number): string {
  const kept = query.slice(0, end);
  if (/^\s/.test(query.slice(end))) return kept.trimEnd();
  const words = kept.replace(/\S+$/, '').trimEnd();
  return words.length < end * wordShareMax ? kept : words;
}
