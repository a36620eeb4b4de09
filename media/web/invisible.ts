// Characters that nobody sees: formats, joiners, fillers, variants, tags and controls. They are
// taken out of a page before anything is looked for in it.

const invisible =
  /[\p{Cf}\p{Cc}\p{Co}\p{Cs}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The text without them; what parts words or lines stays. */
export function withoutInvisible(text: string): string {
  return text.replace(invisible, (character) => (/\s/.test(character) ? character : ''));
}

/** Lines of words: blanks within a line are one, and so are empty lines. */
export function tidyText(text: string): string {
  return withoutInvisible(text)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[\s]*/g, '\n')
    .trim();
}
