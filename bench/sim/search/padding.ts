// Makes a JSON text as long as it is wanted, with a member full of small objects. A reader parses
// them, and leaves them out.

const filler = `{"title":"Simulated padding","text":"${'padding '.repeat(24)}"},`;

/** The same text where it is as long already. All of it is ASCII but what stood there before. */
export function padded(text: string, bytes: number): string {
  const end = text.at(-1) ?? '';
  const opening = end === '}' ? ',"sim_padding":[' : ',[';
  const closing = `"]${end}`;
  const missing = bytes - Buffer.byteLength(text) + 1 - opening.length - closing.length - 1;
  if (missing < 0 || (end !== '}' && end !== ']')) return text;
  const count = Math.floor(missing / filler.length);
  const rest = '-'.repeat(missing - count * filler.length);
  return `${text.slice(0, -1)}${opening}${filler.repeat(count)}"${rest}${closing}`;
}
