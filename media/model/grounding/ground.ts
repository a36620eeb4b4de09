// Checks a text whose marks `[n]` name sources. What no source bears out is taken out: marks, and
// addresses. The marks that stay get the sentence that bears them out. Pure, and linear in the text
// and the sources.
import {
  type AddressSpan,
  type KnownAddresses,
  knownAddresses,
  unknownIn,
  withoutUnknown,
} from './addresses.ts';
import type { GroundedCitation, GroundingSource, GroundingVerdict } from './contract.ts';
import { type Mark, marksIn, withoutMarks, withPlainMarks } from './marks.ts';
import { type Sentence, sentencesOf } from './sentences.ts';
import { type IndexedSource, indexSource } from './sources.ts';
import { type Claim, claimOf, isSupported, quoteFor } from './support.ts';

/** Nobody sees them, and addresses hide behind them. */
const invisible = /(?![\n\t])\p{Cc}|[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
const factWordsMin = 3;
/** One address may hide behind another that it touches. */
const neutralPasses = 3;
const unsupportedMax = 20;

interface KeptMark extends Mark {
  quote: string;
}

export function groundAnswer(text: string, sources: readonly GroundingSource[]): GroundingVerdict {
  const known = knownAddresses(sources);
  const clean = text.replace(/\r\n?/g, '\n').replace(invisible, '');
  const cleaned = withoutUnknown(withPlainMarks(clean), known);
  const judged = judge(cleaned.text, sources.map(indexSource));
  const written = assemble(cleaned.text, judged.marks);
  const settled = neutralize(written.text, written.kept, known);
  return {
    text: settled.text,
    citations: citationsOf(settled.text, written.kept, sources),
    removed: cleaned.removed + judged.marks.length - written.kept.length + settled.removed,
    isWanting: written.kept.length === 0 || judged.supported * 2 < judged.facts,
    unsupported: judged.unsupported.slice(0, unsupportedMax),
  };
}

interface Judged {
  /** A quote: it is supported. */
  marks: (Mark & { quote: string | null })[];
  facts: number;
  supported: number;
  unsupported: string[];
}

function judge(text: string, sources: readonly IndexedSource[]): Judged {
  const judged: Judged = { marks: [], facts: 0, supported: 0, unsupported: [] };
  const marks = marksIn(text, sources.length);
  let at = 0;
  for (const sentence of sentencesOf(text)) {
    const own: Mark[] = [];
    for (; (marks[at]?.start ?? sentence.end) < sentence.end; at += 1) own.push(marks[at] as Mark);
    judgeSentence(judged, sentence, own, sources);
  }
  return judged;
}

function judgeSentence(
  judged: Judged,
  sentence: Sentence,
  marks: readonly Mark[],
  sources: readonly IndexedSource[],
): void {
  const whole = claimOf(sentence.text);
  const bearsWhole = remembering(whole, sources);
  const groups = groupsOf(sentence, marks);
  let borne = groups.length === 0 ? 0 : 1;
  for (const { marks: own, text } of groups) {
    // Where it cites several times, each place is for what stands before it.
    const part = groups.length > 1 ? claimOf(text) : whole;
    const bearsPart = part === whole ? bearsWhole : remembering(part, sources);
    let kept = 0;
    for (const mark of own) {
      const quote = bearsWhole(mark.position) ?? (isPart(part) ? bearsPart(mark.position) : null);
      judged.marks.push({ ...mark, quote });
      if (quote !== null) kept += 1;
    }
    if (kept === 0) borne = 0;
  }
  if (!statesFact(sentence.text, whole)) return;
  judged.facts += 1;
  judged.supported += borne;
  if (borne === 0) judged.unsupported.push(plainOf(sentence.text));
}

function plainOf(text: string): string {
  const plain = withoutMarks(text).replace(/\s+/g, ' ').trim();
  return plain.replace(/ (?=[.,;:!?]$)/, '');
}

/** Two words that a source has by chance are no statement. */
function isPart({ words, numbers }: Claim): boolean {
  return words.length >= 2 || (words.length > 0 && numbers.length > 0);
}

interface Group {
  marks: Mark[];
  /** From the group before it, the last one to the end of the sentence. */
  text: string;
}

function groupsOf({ start, end, text }: Sentence, marks: readonly Mark[]): Group[] {
  const groups: Group[] = [];
  let from = start;
  for (const mark of marks) {
    const last = groups.at(-1)?.marks;
    const before = text.slice(from - start, mark.start - start);
    if (last !== undefined && before.trim() === '') last.push(mark);
    else groups.push({ marks: [mark], text: before });
    from = mark.end;
  }
  const last = groups.at(-1);
  if (last !== undefined) last.text += text.slice(from - start, end - start);
  return groups;
}

/** The quote of a source that bears it out; null: it does not. Each is asked once. */
function remembering(
  claim: Claim,
  sources: readonly IndexedSource[],
): (position: number) => string | null {
  const answers = new Map<number, string | null>();
  return (position) => {
    const known = answers.get(position);
    if (known !== undefined) return known;
    const source = sources[position - 1];
    const isBorne = source !== undefined && isSupported(claim, source);
    const answer = isBorne ? quoteFor(claim, source) : null;
    answers.set(position, answer);
    return answer;
  };
}

function statesFact(text: string, { words, numbers }: Claim): boolean {
  const bare = withoutMarks(text).trim();
  if (/^#{1,6}\s/.test(bare) || /[?？؟:：]$/.test(bare)) return false;
  if (/^(\*\*|__)[^*_]*(\*\*|__)$/.test(bare)) return false;
  return words.length >= factWordsMin || (words.length > 0 && numbers.length > 0);
}

/** The text without the marks that are not supported, and where the others are in it. */
function assemble(text: string, marks: Judged['marks']): { text: string; kept: KeptMark[] } {
  const parts: string[] = [];
  const kept: KeptMark[] = [];
  let from = 0;
  let length = 0;
  const push = (part: string) => {
    // Blanks at the beginning go, so that offsets are those of the trimmed text.
    const said = length === 0 ? part.trimStart() : part;
    parts.push(said);
    length += said.length;
  };
  for (const { start, end, position, quote } of marks) {
    if (quote !== null) {
      push(text.slice(from, start));
      kept.push({ start: length, end: length + end - start, position, quote });
      push(text.slice(start, end));
    } else push(text.slice(from, blanksBefore(text, start, end, from)));
    from = end;
  }
  push(text.slice(from));
  return { text: parts.join('').trimEnd(), kept };
}

/** A blank before what is taken out goes with it where another blank or the end follows. */
function blanksBefore(text: string, start: number, end: number, from: number): number {
  let at = start;
  if (!/^(?:[\s.,;:!?)\]，。；：！？）]|$)/.test(text.slice(end, end + 1))) return at;
  while (at > from && /[ \t\u00a0]/.test(text[at - 1] ?? '')) at -= 1;
  return at;
}

/** What became a mark or an address as something between was taken out: it keeps its length. */
function neutralize(text: string, kept: readonly KeptMark[], known: KnownAddresses) {
  const starts = new Set(kept.map(({ start }) => start));
  let removed = 0;
  let settled = text.replace(/\[(\d+)\]/g, (mark, digits: string, at: number) => {
    if (starts.has(at)) return mark;
    removed += 1;
    return `(${digits})`;
  });
  for (let pass = 1; pass <= neutralPasses; pass += 1) {
    const spans = unknownIn(settled, known);
    if (spans.length === 0) break;
    removed += spans.length;
    settled = withDashes(settled, spans);
  }
  return { text: settled, removed };
}

function withDashes(text: string, spans: readonly AddressSpan[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    parts.push(text.slice(from, start), text.slice(start, end).replace(/[.:/@]/g, '-'));
    from = end;
  }
  return parts.join('') + text.slice(from);
}

/** Offsets are told in code points, as other languages count. */
function citationsOf(
  text: string,
  kept: readonly KeptMark[],
  sources: readonly GroundingSource[],
): GroundedCitation[] {
  const citations: GroundedCitation[] = [];
  let unit = 0;
  let point = 0;
  for (const { start, end, position, quote } of kept) {
    for (; unit < start; point += 1) unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
    const { url = '', title = '' } = sources[position - 1] ?? {};
    citations.push({ start: point, end: point + end - start, position, url, title, quote });
  }
  return citations;
}
