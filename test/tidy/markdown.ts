// A Markdown document as blocks of text: headings, paragraphs, list items, quotes, cells of tables.
import type { TextFile } from './tree.ts';

export interface Block {
  kind: 'text' | 'cell';
  line: number;
  /** In one line, without the marks of the block. */
  text: string;
}

/** The bench writes it; nobody does by hand. */
const GENERATED = new Set(['bench/results.md']);

export const writtenDocuments = (documents: TextFile[]) =>
  documents.filter(({ path }) => !GENERATED.has(path));

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^#{1,6}\s+/;
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?/;
const QUOTE = /^\s*>\s?/;

export const isTableRow = (line: string) => /^\s*\|.*\|\s*$/.test(line);
const isRuler = (line: string) => /^[\s|:-]+$/.test(line);

/** What stands between the bars, without the space around. */
export function cellsOf(row: string): string[] {
  const parts = row.trim().split(/(?<!\\)\|/);
  return parts.slice(1, -1).map((cell) => cell.trim());
}

/** Lines outside of code fences; the others come as empty ones, so that numbers stay. */
export function proseLines(lines: string[]): string[] {
  let isFenced = false;
  return lines.map((line) => {
    const isFence = FENCE.test(line);
    if (isFence) isFenced = !isFenced;
    return isFence || isFenced ? '' : line;
  });
}

export function blocksOf({ lines }: TextFile): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  proseLines(lines).forEach((line, index) => {
    const number = index + 1;
    if (isTableRow(line)) {
      open = null;
      if (isRuler(line)) return;
      blocks.push(...cellsOf(line).map((text): Block => ({ kind: 'cell', line: number, text })));
      return;
    }
    const mark = [HEADING, ITEM, QUOTE].find((pattern) => pattern.test(line));
    const text = mark === undefined ? line.trim() : line.replace(mark, '').trim();
    if (text === '') {
      open = null;
    } else if (open !== null && (mark === undefined || mark === QUOTE)) {
      open.text += ` ${text}`;
    } else {
      const block: Block = { kind: 'text', line: number, text };
      blocks.push(block);
      open = mark === HEADING ? null : block;
    }
  });
  return blocks;
}
