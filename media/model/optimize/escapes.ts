// What a terminal would have swallowed: colours, cursor moves, titles, and what a progress bar has
// overwritten. What is left is what a person at that terminal saw at the end.
import { isFenced, narrowed, type Passage } from './passage.ts';

const ESCAPE = '\u001b';
const BELL = '\u0007';

export function withoutEscapes(passage: Passage): Passage {
  let changed = false;
  const lines = passage.lines.map((line, index) => {
    if (!mayHoldEscapes(line) || isFenced(passage, index)) return line;
    const plain = lastOverwrite(stripEscapes(line));
    if (plain !== line) changed = true;
    return plain;
  });
  if (!changed) return passage;
  return narrowed(passage, lines, [...lines.keys()]);
}

function mayHoldEscapes(line: string): boolean {
  return line.includes(ESCAPE) || line.includes('\r');
}

/** ECMA-48: control sequences, operating system commands, and two-character escapes. */
function stripEscapes(line: string): string {
  let at = line.indexOf(ESCAPE);
  if (at === -1) return line;
  let plain = '';
  let from = 0;
  while (at !== -1) {
    plain += line.slice(from, at);
    from = escapeEnd(line, at);
    at = line.indexOf(ESCAPE, from);
  }
  return plain + line.slice(from);
}

function escapeEnd(line: string, at: number): number {
  const kind = line[at + 1];
  if (kind === undefined) return at + 1;
  if (kind === ']') return commandEnd(line, at + 2);
  // A control sequence has parameters, any other escape only intermediate characters.
  const isSequence = kind === '[';
  let end = at + (isSequence ? 2 : 1);
  while (end < line.length && isBetween(line, end, 0x20, isSequence ? 0x3f : 0x2f)) end += 1;
  return end < line.length && isBetween(line, end, 0x30, 0x7e) ? end + 1 : end;
}

/** Ended by BEL or ESC \; one without an end is taken for its two characters only. */
function commandEnd(line: string, from: number): number {
  const found = line.indexOf(ESCAPE, from);
  const next = found === -1 ? line.length : found;
  const bell = line.slice(from, next).indexOf(BELL);
  if (bell !== -1) return from + bell + 1;
  return line[next + 1] === '\\' ? next + 2 : from;
}

function isBetween(line: string, at: number, low: number, high: number): boolean {
  const code = line.charCodeAt(at);
  return code >= low && code <= high;
}

/** A carriage return at the end is half of a CRLF; any other begins the line anew. */
function lastOverwrite(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  const start = line.lastIndexOf('\r', end - 1);
  return start === -1 && end === line.length ? line : line.slice(start + 1, end);
}
