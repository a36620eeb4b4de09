// The text that a task is read from, bounded, and which of it is instruction: people say what they
// want first or last, and paste or quote the material.
import type { Message } from '../request.ts';

/** How much a part of a text counts: 1 where it is instruction, less where it is material. */
export interface Segment {
  text: string;
  share: number;
}

const headCharactersMax = 1_200;
const tailCharactersMax = 600;
const contextCharactersMax = 400;
/** A turn that says nothing ("go on") is read with the one before. */
const shortCharacters = 40;
const materialShare = 0.3;
const quotedShare = 0.2;
/** What is between is material, and enough of it was seen. */
const linesMax = 40;

/** The two ends of a message's text. */
export function endsOf(message: Message): string {
  const texts = message.parts.flatMap((part) => (part.type === 'text' ? part.text : []));
  const [first = ''] = texts;
  const last = texts.at(-1) ?? '';
  if (texts.length === 1 && first.length <= headCharactersMax + tailCharactersMax) return first;
  if (texts.length < 2) return `${first.slice(0, headCharactersMax)}\n${tailOf(last)}`;
  // Clients put instructions before or after attached parts; what is between them is attached.
  return `${first.slice(0, headCharactersMax)}\n${tailOf(last)}`;
}

function tailOf(text: string): string {
  return text.slice(-tailCharactersMax);
}

/** What instructions to the model begin with. */
export function beginningOf(message: Message): string {
  return endsOf(message).slice(0, contextCharactersMax);
}

/** The last turn of the user, with the one before when it is short. */
export function lastTurn(messages: readonly Message[]): string {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[last];
  if (message === undefined) return '';
  const text = endsOf(message).trim();
  if (text.length >= shortCharacters) return text;
  const before = messages.findLast(({ role }, index) => role === 'user' && index < last);
  return before === undefined ? text : `${text}\n${beginningOf(before)}`;
}

const pointsBelow =
  /\?\s*$|\b(?:below|following|folgende[nrsm]?|siguientes?|suivante?s?|seguenti?|deze)\b/i;

/**
 * Cuts a text into segments: code goes, quoted text counts little, what follows a colon or stands
 * between the first and the last line is material. A question at the end of it is none.
 */
export function segmentsOf(text: string): Segment[] {
  const lines = text
    .replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length > linesMax) lines.splice(linesMax / 2, lines.length - linesMax);
  const segments: Segment[] = [];
  const [first = '', ...rest] = lines;
  const colon = /[:：](?:\s|$)|：/.exec(first);
  const end = colon === null ? first.length : colon.index;
  addUnquoted(segments, first.slice(0, end), 1);
  if (end < first.length) addMaterial(segments, first.slice(end));
  const isMaterial = colon !== null || pointsBelow.test(first);
  rest.forEach((line, index) => {
    const isLast = index === rest.length - 1;
    if (isMaterial || !isLast) addMaterial(segments, line);
    else addUnquoted(segments, line, 1);
  });
  return segments;
}

/** Material whose last sentence is a question to the model has that question as instruction. */
function addMaterial(segments: Segment[], text: string): void {
  const isAsked = text.trimEnd().endsWith('?');
  const question = isAsked ? /(?:^|[.!?:]\s)([^.!?]{8,200}\?)\s*$/.exec(text) : null;
  if (question === null) {
    addUnquoted(segments, text, materialShare);
    return;
  }
  addUnquoted(segments, question[1] ?? '', 1);
  addUnquoted(segments, text.slice(0, question.index), materialShare);
}

function addUnquoted(segments: Segment[], text: string, share: number): void {
  const quotes = /"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|「[^「」]*」|(?<=\s)'[^']{2,}'|`[^`]*`/g;
  const quoted: string[] = [];
  const plain = text.replace(quotes, (quote) => {
    quoted.push(quote);
    return ' ';
  });
  segments.push({ text: plain, share });
  if (quoted.length > 0) segments.push({ text: quoted.join(' '), share: share * quotedShare });
}
