// Texts in the form in which V8 copies and compares them fast, and keeps nothing beside them.

/**
 * The same text in one piece. V8 keeps what was joined as a tree, and what was cut out as a view of
 * the whole, and walks it whenever a text that it is part of is written: half of writing a stream.
 * A view also keeps all that it was cut out of.
 */
export function flat(text: string): string {
  return [text.slice(0, 1), text.slice(1)].join('');
}

/** So much of a text may be a tree, in UTF-16 units. */
const treeMin = 256;
/** A reading whose result nobody keeps is left out by the compiler. */
const read = new Uint16Array(1);

/**
 * `text + more`, for texts that grow delta by delta as long as an answer lasts. Their tree has some
 * 55 bytes for each delta, which collections copy and mark until the answer is over, so the text is
 * brought into one piece whenever a tenth or so was added, however long it gets.
 */
export function grown(text: string, more: string): string {
  const longer = text + more;
  // A power of two, from a sixteenth of the length to an eighth.
  const tree = Math.max(treeMin, 1 << (28 - Math.clz32(longer.length)));
  const isDue = Math.trunc(text.length / tree) !== Math.trunc(longer.length / tree);
  // Reading a character of a tree makes V8 replace it by one piece, in place.
  if (isDue) read[0] = longer.charCodeAt(0);
  return longer;
}

/** `grown`, in place. */
export function grow(item: { text: string }, delta: string): void {
  item.text = grown(item.text, delta);
}
