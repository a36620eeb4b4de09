// Space that says nothing: at the ends of lines, blank lines after a blank line, and the padding of
// columns down to two spaces. Indentation stays, for it may be code, a list or YAML.
import { isFenced, narrowed, type Passage } from './passage.ts';

const PADDING = / {3,}/g;

export function withoutPadding(passage: Passage): Passage {
  const texts: string[] = [];
  const keep: number[] = [];
  let changed = false;
  let blank = false;
  for (const [index, line] of passage.lines.entries()) {
    const text = isFenced(passage, index) ? line : tightened(line);
    if (text !== line) changed = true;
    if (text === '' && blank && !isFenced(passage, index)) {
      changed = true;
      continue;
    }
    blank = text === '' && !isFenced(passage, index);
    texts.push(text);
    keep.push(index);
  }
  return changed ? narrowed(passage, texts, keep) : passage;
}

function tightened(line: string): string {
  if (line === '') return line;
  const trimmed = line.trimEnd();
  if (!trimmed.includes('   ') || isCodeLine(trimmed)) return trimmed;
  const start = trimmed.length - trimmed.trimStart().length;
  return trimmed.slice(0, start) + trimmed.slice(start).replace(PADDING, '  ');
}

/** Indented code (CommonMark 4.4), or a line that quotes some: spaces may be part of it. */
function isCodeLine(line: string): boolean {
  return line.startsWith('    ') || line.startsWith('\t') || /["'`]/.test(line);
}
