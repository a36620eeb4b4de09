// A tool's output cut into the units that extraction keeps or leaves out as wholes: lines,
// sentences, blocks of source, hunks of a diff, elements of JSON. Joined again they are the text.
import { cutJson, JSON_FIXED, JSON_MEMBER } from './json-text.ts';
import { type TextKind, withoutLineNumber } from './kind.ts';
import { isFenced, type Passage } from './passage.ts';

export type Noun = 'lines' | 'sentences' | 'items' | 'members';

export interface Units {
  /** Where each unit begins; the first begins at 0. */
  starts: number[];
  /** Units that always stay: code blocks, heads of source blocks, what frames JSON. */
  fixed: boolean[];
  /** What is left out from this unit on is counted in these. */
  nounAt(unit: number): Noun;
  /** What `headUnits` and `tailUnits` are multiplied by: blocks are larger than lines. */
  edgeShare: number;
}

const CHILDREN_MIN = 12;
const SENTENCE_LINE_CHARACTERS = 240;
const SENTENCE_END = /[.!?]["')\]]?\s+|[。！？]/g;

export function unitsOf(text: string, kind: TextKind, passage: Passage): Units {
  if (kind === 'json') return jsonUnits(text);
  if (kind === 'source') return blockUnits(passage);
  if (kind === 'diff') return hunkUnits(passage);
  return lineUnits(passage);
}

function jsonUnits(text: string): Units {
  const { starts, marks } = cutJson(text, CHILDREN_MIN);
  const fixed = marks.map((mark) => mark === JSON_FIXED);
  const nounAt = (unit: number): Noun => (marks[unit] === JSON_MEMBER ? 'members' : 'items');
  return { starts, fixed, nounAt, edgeShare: 0 };
}

class Cutter {
  readonly starts: number[] = [];
  readonly fixed: boolean[] = [];

  cut(at: number, isFixed: boolean): void {
    this.starts.push(at);
    this.fixed.push(isFixed);
  }
}

function lineUnits(passage: Passage): Units {
  const cutter = new Cutter();
  let at = 0;
  let sentences = 0;
  for (const [index, line] of passage.lines.entries()) {
    const inside = isFenced(passage, index);
    if (!inside || !isFenced(passage, index - 1)) cutter.cut(at, inside);
    if (!inside && line.length > SENTENCE_LINE_CHARACTERS) {
      sentences += cutSentences(line, at, cutter);
    }
    at += line.length + 1;
  }
  const { starts, fixed } = cutter;
  const isProse = sentences * 2 > starts.length;
  const nounAt = (): Noun => (isProse ? 'sentences' : 'lines');
  return { starts, fixed, nounAt, edgeShare: isProse ? 0.5 : 1 };
}

/** A unit for each sentence but the first, which the line's own unit is. */
function cutSentences(line: string, at: number, cutter: Cutter): number {
  let cuts = 0;
  for (const match of line.matchAll(SENTENCE_END)) {
    const next = match.index + match[0].length;
    if (next >= line.length) break;
    cutter.cut(at + next, false);
    cuts += 1;
  }
  return cuts;
}

/** A block is a line without indentation and the lines below it; its first line always stays. */
function blockUnits(passage: Passage): Units {
  const cutter = new Cutter();
  let at = 0;
  let inBody = false;
  let before = '';
  for (const [index, line] of passage.lines.entries()) {
    const text = withoutLineNumber(line);
    if (isFenced(passage, index)) {
      if (!isFenced(passage, index - 1)) cutter.cut(at, true);
      inBody = false;
    } else if (beginsBlock(text, before)) {
      cutter.cut(at, true);
      inBody = false;
    } else if (!inBody) {
      cutter.cut(at, false);
      inBody = true;
    }
    before = text;
    at += line.length + 1;
  }
  return { starts: cutter.starts, fixed: cutter.fixed, nounAt: () => 'lines', edgeShare: 0.2 };
}

/** Closing brackets and comments go on with what is above them. */
function beginsBlock(line: string, before: string): boolean {
  return /^[A-Za-z@<[]/.test(line) && (before === '' || /^[\s})\]]/.test(before));
}

function hunkUnits(passage: Passage): Units {
  const cutter = new Cutter();
  let at = 0;
  let inHunk = false;
  for (const line of passage.lines) {
    const beginsFile = line.startsWith('diff ') || line.startsWith('--- ');
    if (line.startsWith('@@ ') || (beginsFile && inHunk) || cutter.starts.length === 0) {
      inHunk = line.startsWith('@@ ');
      cutter.cut(at, !inHunk);
    }
    at += line.length + 1;
  }
  return { starts: cutter.starts, fixed: cutter.fixed, nounAt: () => 'lines', edgeShare: 0.2 };
}
