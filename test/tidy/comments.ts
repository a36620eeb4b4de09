// The comments of a source: headers, doc comments, and lines that belong together.
import type { Source } from './tree.ts';

export interface Comment {
  line: number;
  /** Each in one line, without the marks of the comment. */
  paragraphs: string[];
}

/** An empty line ends a paragraph, an item of a list begins one. */
function paragraphsOf(lines: string[]): string[] {
  const paragraphs = [''];
  for (const line of lines) {
    const text = line.trim();
    if (text === '' || /^[-*] /.test(text)) paragraphs.push(text.replace(/^[-*] /, ''));
    else paragraphs.push(`${paragraphs.pop() ?? ''} ${text}`.trim());
  }
  return paragraphs.filter((paragraph) => paragraph !== '');
}

/** From the first line of a block to its end mark. */
function blockAt(lines: string[], first: number): { paragraphs: string[]; last: number } {
  let last = first;
  while (last < lines.length - 1 && !(lines[last] ?? '').includes('*/')) last += 1;
  const inner = lines.slice(first, last + 1).map((line) =>
    line
      .replace(/^\s*\/\*+/, '')
      .replace(/\*\/.*$/, '')
      .replace(/^\s*\*+ ?/, ''),
  );
  return { paragraphs: paragraphsOf(inner), last };
}

/** A comment behind code on its line; a string is passed over. */
const TRAILING = /^(?:[^'"`]|'[^']*'|"[^"]*"|`[^`]*`)*?\s\/\/ (.+)$/;

/** The text is read line by line, so a line of a template that looks like a comment is one. */
export function commentsOf({ lines }: Source): Comment[] {
  const found: Comment[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const text = lines[at] ?? '';
    const line = at + 1;
    if (/^\s*\/\*/.test(text)) {
      const block = blockAt(lines, at);
      found.push({ line, paragraphs: block.paragraphs });
      at = block.last;
    } else if (/^\s*\/\//.test(text)) {
      let last = at;
      while (/^\s*\/\//.test(lines[last + 1] ?? '')) last += 1;
      const inner = lines.slice(at, last + 1).map((each) => each.replace(/^\s*\/\/+ ?/, ''));
      found.push({ line, paragraphs: paragraphsOf(inner) });
      at = last;
    } else {
      const trailing = TRAILING.exec(text)?.[1];
      if (trailing !== undefined) found.push({ line, paragraphs: [trailing] });
    }
  }
  return found;
}
