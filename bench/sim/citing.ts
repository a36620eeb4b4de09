// What a simulated model answers from numbered quoted results. It gives the first sentences of two
// of them with their marks, or the lies that a check of citations must find.
import type { Citing } from './directive.ts';

interface Quoted {
  number: number;
  title: string;
  text: string;
}

const citedCount = 2;
const opening = /^\[(\d{1,3})\] (.*)$/;
const datePattern = /^(?:[A-Z][a-z]{2} \d{1,2}, \d{4}|\d+ \w+ ago|\d{4}-\d\d-\d\d\S*)$/;

/** Null: nothing is quoted, or nobody asked for an answer of this kind. */
export function citedAnswer(
  texts: readonly (string | null)[],
  citing: Citing | null,
): string | null {
  const said = texts.filter((text) => text !== null);
  const asked =
    said.findLast((text) => /^\s*Sources:/.test(text)) ??
    (citing === null ? undefined : said.findLast((text) => quotedIn(text).length > 0));
  if (asked === undefined) return null;
  const quoted = quotedIn(asked).slice(0, citedCount);
  return quoted.length === 0 ? null : answerOf(quoted, citing ?? 'good');
}

/** `[1] title`, a line with its address or nothing, and lines of text up to a blank one. */
function quotedIn(text: string): Quoted[] {
  const lines = text.split('\n');
  const found: Quoted[] = [];
  for (const [at, line] of lines.entries()) {
    const opened = opening.exec(line.replace(/^\s*Sources:\s*/, ''));
    if (opened === null || !/^(?:https?:\/\/\S+)?$/.test(lines[at + 1] ?? '-')) continue;
    const rest = lines.slice(at + 2);
    const end = rest.findIndex((one) => one.trim() === '' || opening.test(one));
    const told = (end < 0 ? rest : rest.slice(0, end)).filter((one) => !datePattern.test(one));
    const [, number = '', title = ''] = opened;
    found.push({ number: Number(number), title, text: told.map(unquoted).join(' ') });
  }
  return found;
}

/** A line may be a JSON string. */
function unquoted(line: string): string {
  if (!/^".*"$/.test(line)) return line;
  try {
    return String(JSON.parse(line));
  } catch {
    return line;
  }
}

function answerOf(quoted: readonly Quoted[], citing: Citing): string {
  const sentences = quoted.map(({ title, text }) => firstSentence(text.trim() || title));
  const marked = (mark: (at: number) => string, words = (sentence: string) => sentence) =>
    sentences.map((sentence, at) => `${words(sentence)}${mark(at)}.`).join(' ');
  switch (citing) {
    case 'good':
      return marked((at) => ` [${quoted[at]?.number}]`);
    case 'unknown':
      return `${marked(() => ' [97]')} More is at https://invented.example.org/made-up.`;
    case 'unsupported':
      return marked((at) => ` [${quoted[at]?.number}]`, withOtherNumbers);
    case 'none':
      return marked(() => '');
  }
}

/** Without its full stop. */
function firstSentence(text: string): string {
  const end = text.search(/[.!?](?=\s|$)|[。！？]/);
  return end < 0 ? text : text.slice(0, end);
}

function withOtherNumbers(sentence: string): string {
  const changed = sentence.replace(/\d{2,12}/g, (digits) => String(Number(digits) + 1_313));
  return changed === sentence ? `${sentence} since 1987` : changed;
}
