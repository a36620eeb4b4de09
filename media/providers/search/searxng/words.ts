// A query without SearXNG's own commands. Words that begin with `!`, `:` or `<`, and `?` in older
// servers, choose engines, languages and deadlines; `!!` leads to another host.

/** As Python splits: it counts some control characters as spaces. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these separate words
const spaces = /[\s\u001c-\u001f\u0085]+/;
const commands = /^[!:<?]+/;

export function withoutCommands(query: string): string {
  const words = query.split(spaces).map((word) => word.replace(commands, ''));
  const kept = words.filter((word) => word !== '').join(' ');
  // Nothing but marks: in quotes they are looked for, and are no commands.
  return kept === '' ? `"${query.split(spaces).join('')}"` : kept;
}
