// Plain data to JSON in pieces, so that a long text is never one string and its writer may let
// others have the loop between them. Joined they are what `JSON.stringify` gives.
import { pausing } from '../turns.ts';
import { WholeNumber } from './whole-numbers.ts';

type Members = Record<string, unknown>;

/** JSON that is written and not yet taken away. */
interface Writing {
  text: string;
  readonly pieceCharacters: number;
  readonly namesOf: (value: Members) => string[];
}

const joinedCharacters = 128 * 1_024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes exactly these
const mustEscape = /["\\\u0000-\u001f]|\p{Surrogate}/u;

/** Whether a text may be copied into a JSON string as it is. */
export function isPlain(text: string): boolean {
  return !mustEscape.test(text);
}

/** JSON of a long value, written in turns of the loop of their own. */
export async function jsonInTurns(value: unknown[] | Members): Promise<string> {
  const pause = pausing();
  const pieces: string[] = [];
  await pause(true);
  for (const piece of jsonPieces(value, joinedCharacters)) {
    pieces.push(piece);
    await pause();
  }
  return pieces.join('');
}

/**
 * Pieces of about `pieceCharacters`. Of an object the members that `namesOf` lists are written, in
 * its order. What is no plain data (`toJSON`, dates) has no business here.
 */
export function* jsonPieces(
  value: unknown[] | Members,
  pieceCharacters: number,
  namesOf: (value: Members) => string[] = Object.keys,
): Generator<string> {
  const writing: Writing = { text: '', pieceCharacters, namesOf };
  yield* write(value, writing);
  if (writing.text !== '') yield take(writing);
}

function* write(value: unknown[] | Members, writing: Writing): Generator<string> {
  let separator = '';
  if (Array.isArray(value)) {
    writing.text += '[';
    for (const item of value) {
      writing.text += separator;
      separator = ',';
      if (isContainer(item)) yield* write(item, writing);
      else if (isLongText(item, writing)) yield* writeText(item, writing);
      else writing.text += item === undefined ? 'null' : scalar(item);
      if (writing.text.length >= writing.pieceCharacters) yield take(writing);
    }
    writing.text += ']';
    return;
  }
  writing.text += '{';
  for (const name of writing.namesOf(value)) {
    const member = value[name];
    if (member === undefined) continue;
    writing.text += `${separator}${JSON.stringify(name)}:`;
    separator = ',';
    if (isContainer(member)) yield* write(member, writing);
    else if (isLongText(member, writing)) yield* writeText(member, writing);
    else writing.text += scalar(member);
    if (writing.text.length >= writing.pieceCharacters) yield take(writing);
  }
  writing.text += '}';
}

/** One text may be all of the body, such as an image: to look for escapes is half of writing it. */
function* writeText(text: string, writing: Writing): Generator<string> {
  writing.text += '"';
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start, writing.pieceCharacters);
    const part = text.slice(start, end);
    writing.text += isPlain(part) ? part : JSON.stringify(part).slice(1, -1);
    yield take(writing);
    start = end;
  }
  writing.text += '"';
}

/**
 * Where a piece of a text that begins at `start` ends: never between the halves of a surrogate
 * pair, of which each alone would become something else.
 */
export function pieceEnd(text: string, start: number, pieceCharacters: number): number {
  const end = start + pieceCharacters;
  if (end >= text.length) return text.length;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

function isContainer(value: unknown): value is unknown[] | Members {
  return typeof value === 'object' && value !== null && !(value instanceof WholeNumber);
}

function scalar(value: unknown): string {
  return value instanceof WholeNumber ? value.digits : JSON.stringify(value);
}

function isLongText(value: unknown, { pieceCharacters }: Writing): value is string {
  return typeof value === 'string' && value.length > pieceCharacters;
}

function take(writing: Writing): string {
  const { text } = writing;
  writing.text = '';
  return text;
}
