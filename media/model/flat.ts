// Texts that stand around each delta of a stream, in the form in which V8 copies and compares fast.

/**
 * The same text in one piece. V8 keeps what was joined as a tree, and what was cut out as a view of
 * the whole, and walks it whenever a text that it is part of is written: half of writing a stream.
 * A view also keeps all that it was cut out of.
 */
export function flat(text: string): string {
  return [text.slice(0, 1), text.slice(1)].join('');
}
