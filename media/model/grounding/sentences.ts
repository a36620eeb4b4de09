// Where the sentences of a text are, in many scripts. By rules and in one pass: marks `[n]` behind
// a full stop belong to the sentence before them.
import { monthNumber } from './months.ts';

export interface Sentence {
  /** UTF-16 units of the text; blanks at its ends are not in it. */
  start: number;
  end: number;
  text: string;
}

/** The second group needs no blank behind it: Chinese, Indic, Arabic, Armenian, Ethiopic, more. */
const ends = /[.!?…‼⁇⁈⁉]+|[。！？｡．।॥؟۔։።፧។៕။༎]+|\n/gu;
const closing = /["'”’»›)）*_」』】》〉]{0,8}/y;
const marksBehind = /(?:[ \t\u00a0]{0,4}\[\d+\])+[.!?。]?/y;
const marksAlone = /\s{0,8}(?:\[\d+\][ \t]{0,4})+(?=\n|$)/y;
const wordBefore = /([\p{L}\p{M}]{1,12})$/u;
const firstLetter = /^[\s"'“‘«(*_]{0,8}(\p{L})/u;
const numberAtLine = /(?:^|\n)[ \t]*\d{1,3}$/;
const dayBefore = /(?:^|\D)\d{1,2}$/;
const wordAfter = /^ ([\p{L}\p{M}]{3,12})/u;

const abbreviations = new Set(
  (
    'mr mrs ms dr prof st sr jr vs ca bzw nr no fig inc ltd co corp gen col sen rep hr str abs ' +
    'art vol ' +
    'pp ed al bspw ggf evtl sog inkl exkl zzgl mio mrd jan feb mar apr jun jul aug sep sept ' +
    'oct okt nov dec dez mme mlle av sra dra dott sig pág núm approx est dept univ vgl resp'
  ).split(' '),
);

/** How far a decision looks back and ahead. */
const reach = 24;

export function sentencesOf(text: string): Sentence[] {
  const found: Sentence[] = [];
  let from = 0;
  ends.lastIndex = 0;
  for (let match = ends.exec(text); match !== null; match = ends.exec(text)) {
    const at = match.index + match[0].length;
    const end = match[0] === '\n' ? endAtLine(text, match.index) : endAtStop(text, match[0], at);
    if (end < 0) continue;
    add(found, text, from, end);
    from = end;
    ends.lastIndex = Math.max(at, end);
  }
  add(found, text, from, text.length);
  return found;
}

function add(found: Sentence[], text: string, from: number, to: number): void {
  const slice = text.slice(from, to);
  const trimmed = slice.trim();
  if (trimmed === '') return;
  const start = from + slice.indexOf(trimmed);
  found.push({ start, end: start + trimmed.length, text: trimmed });
}

/** Lines are sentences of their own, but for those that a hard break goes on in; -1: it goes on. */
function endAtLine(text: string, at: number): number {
  const behind = text.slice(at, at + reach);
  if (/^\n[ \t]*\p{Ll}/u.test(behind)) return -1;
  return pass(marksAlone, text, at);
}

/** Behind the stop and what belongs to it; -1: it is none. */
function endAtStop(text: string, stop: string, at: number): number {
  const isPlain = /^[.!?…‼⁇⁈⁉]/u.test(stop);
  const closed = pass(closing, text, at);
  const next = text[closed];
  if (isPlain) {
    const isBroken = next === undefined || /[\s[]/.test(next) || next.charCodeAt(0) > 0x2e80;
    if (!isBroken || goesOn(text, stop, at, closed)) return -1;
  }
  const marked = Math.max(pass(marksBehind, text, closed), pass(marksAlone, text, closed));
  if (marked === closed) return closed;
  // `[2] says so`: the mark is the subject of what follows.
  return /^\s{1,4}\p{Ll}/u.test(text.slice(marked, marked + reach)) ? closed : marked;
}

/** A full stop that ends an abbreviation, an initial, a number of a list or a day. */
function goesOn(text: string, stop: string, at: number, closed: number): boolean {
  if (stop !== '.' && stop !== '…') return false;
  const before = text.slice(Math.max(0, at - stop.length - reach), at - stop.length);
  const behind = text.slice(closed, closed + reach);
  if (firstLetterIsSmall(behind)) return true;
  if (stop === '…') return false;
  const word = wordBefore.exec(before)?.[1];
  if (word !== undefined) {
    const isInitial = word.length === 1 && word !== word.toLowerCase();
    return isInitial || abbreviations.has(word.toLowerCase());
  }
  if (numberAtLine.test(before)) return true;
  const name = wordAfter.exec(behind)?.[1];
  return name !== undefined && dayBefore.test(before) && monthNumber(name.toLowerCase()) > 0;
}

function firstLetterIsSmall(text: string): boolean {
  const letter = firstLetter.exec(text)?.[1];
  return letter !== undefined && /\p{Ll}/u.test(letter);
}

/** Where a sticky pattern ends that begins here; here, where it does not match. */
function pass(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
