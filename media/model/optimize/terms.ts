// The terms of a text as numbers: words by their stem, figures without separators, CJK as pairs of
// characters. One pass, no substrings: it reads every tool output of a long conversation.

export interface TermList {
  /** 30-bit hashes, in order. */
  hashes: number[];
  /** What each is worth alone: 0 only beside another, 1 a word, 2 a figure. */
  weights: number[];
}

export const WEAK = 0;
export const WORD = 1;
export const FIGURE = 2;

const STEM_CHARACTERS = 5;
const BREAK = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const WIDE = 4;

const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 0x61 && code <= 0x7a) return LOWER;
  if (code >= 0x41 && code <= 0x5a) return UPPER;
  return code >= 0x30 && code <= 0x39 ? DIGIT : BREAK;
});

function classOf(code: number): number {
  if (code < 0x80) return ASCII[code] ?? BREAK;
  if (code < 0xc0) return BREAK;
  if (code >= 0x3040 && code <= 0x9fff) return WIDE;
  if (code >= 0xac00 && code <= 0xd7af) return WIDE;
  const isPunctuation =
    (code >= 0x2000 && code <= 0x2bff) || (code >= 0x3000 && code <= 0x303f) || code >= 0xff00;
  return isPunctuation ? BREAK : LOWER;
}

/** Latin, Greek and Cyrillic: capitals begin sentences. Other scripts are taken as they are. */
function lowered(code: number): number {
  if (code < 0x80) return code | 0x20;
  if (code >= 0xc0 && code <= 0xde) return code + 0x20;
  if ((code >= 0x391 && code <= 0x3a9) || (code >= 0x410 && code <= 0x42f)) return code + 0x20;
  return code >= 0x400 && code <= 0x40f ? code + 0x50 : code;
}

/** Fills `into` with the terms of `text` from `start` to `end`, in order. */
export function scanTerms(text: string, start: number, end: number, into: TermList): void {
  into.hashes.length = 0;
  into.weights.length = 0;
  for (let at = start; at < end; ) {
    const code = text.charCodeAt(at);
    const kind = classOf(code);
    if (kind === BREAK) at += 1;
    else if (kind === DIGIT) at = scanFigure(text, at, end, into);
    else if (kind === WIDE) at = scanWide(text, at, end, into);
    else at = scanWord(text, at, end, into);
  }
}

/** `7,421`, `7.421` and `7421` are one figure. */
function scanFigure(text: string, start: number, end: number, into: TermList): number {
  let hash = 7;
  let digits = 0;
  let at = start;
  for (; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) {
      hash = (Math.imul(hash, 31) + code) | 0;
      digits += 1;
    } else if (code !== 0x2c && code !== 0x2e) {
      break;
    } else if (at + 1 >= end || classOf(text.charCodeAt(at + 1)) !== DIGIT) {
      break;
    }
  }
  into.hashes.push(hash & 0x3fffffff);
  into.weights.push(digits > 1 ? FIGURE : WEAK);
  return at;
}

/** Two neighbours are one term; a lone one is weak. */
function scanWide(text: string, start: number, end: number, into: TermList): number {
  const code = text.charCodeAt(start);
  const next = start + 1 < end ? text.charCodeAt(start + 1) : 0;
  const paired = classOf(next) === WIDE;
  const before = start > 0 && classOf(text.charCodeAt(start - 1)) === WIDE;
  if (paired || !before) {
    into.hashes.push((Math.imul(code, 0x9e3779b1) ^ (paired ? next : 0)) & 0x3fffffff);
    into.weights.push(paired ? WORD : WEAK);
  }
  return start + 1;
}

/** A word ends where `camelCase` has its hump. Its stem is its beginning, without a plural s. */
function scanWord(text: string, start: number, end: number, into: TermList): number {
  let at = start;
  let before = UPPER;
  let hash = 3;
  let held = 0;
  for (; at < end; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 0x80 ? (ASCII[code] ?? BREAK) : classOf(code);
    if (kind !== LOWER && (kind !== UPPER || before === LOWER)) break;
    before = kind;
    if (at - start >= STEM_CHARACTERS) continue;
    if (held !== 0) hash = (Math.imul(hash, 31) + held) | 0;
    held = lowered(code);
  }
  const length = at - start;
  // The last of at most five characters: a plural s goes, and y is the i of its plural.
  const isPlural = held === 0x73 && length > 3 && length <= STEM_CHARACTERS;
  if (held === 0x79) held = 0x69;
  if (!isPlural && held !== 0) hash = (Math.imul(hash, 31) + held) | 0;
  into.hashes.push(hash & 0x3fffffff);
  into.weights.push(length > 2 ? WORD : WEAK);
  return at;
}
