// Where a provider says that a request is at fault: a path into the body that it was sent. Each
// vendor writes it in its own way, and its other words are not looked at.
import { isMembers, type Members } from './members.ts';

/** Names of members and positions in lists, from the top of the body. */
export type Place = readonly (string | number)[];

const textLengthMax = 2_000;
const stepsMax = 32;
const step = /\.?\[(\d+)\]|\.(\d+)(?![\w-])|\.?([A-Za-z_][\w-]*)/y;

/** The place that a refusal names, in its error or all of its reply; null: none can be read. */
export function placeIn(reply: unknown): Place | null {
  if (typeof reply === 'string') return saidIn(reply.slice(0, textLengthMax));
  if (!isMembers(reply)) return null;
  const error = isMembers(reply.error) ? reply.error : reply;
  const named = typeof error.param === 'string' ? placeOf(error.param) : null;
  const { message } = error;
  const listed =
    listedIn(reply) ?? listedIn(error) ?? (isMembers(message) ? listedIn(message) : null);
  return named ?? listed ?? saidIn(textOf(error) ?? textOf(reply));
}

function textOf({ message, detail, error }: Members): string | null {
  const text = [message, detail, error].find((member) => typeof member === 'string');
  return typeof text === 'string' ? text.slice(0, textLengthMax) : null;
}

/** Validators list what they found: Pydantic's `loc`, Google's field violations. */
function listedIn({ detail, details, errors }: Members): Place | null {
  for (const list of [detail, details, errors]) {
    const [first]: unknown[] = Array.isArray(list) ? list.filter(isLocated) : [];
    if (!isMembers(first)) continue;
    if (Array.isArray(first.loc)) return located(first.loc);
    const [violation]: unknown[] = first.fieldViolations as unknown[];
    if (isMembers(violation) && typeof violation.field === 'string')
      return placeOf(violation.field);
  }
  return null;
}

function isLocated(entry: unknown): boolean {
  return isMembers(entry) && (Array.isArray(entry.loc) || Array.isArray(entry.fieldViolations));
}

function located(loc: readonly unknown[]): Place | null {
  const steps = loc.filter((each) => typeof each === 'string' || Number.isSafeInteger(each));
  const place = (steps[0] === 'body' ? steps.slice(1) : steps) as (string | number)[];
  return place.length === 0 ? null : place.slice(0, stepsMax);
}

const sentences: readonly RegExp[] = [
  // Messages: `tools.0.custom.input_schema: Field required`
  /^([a-z_]+(?:\.[\w-]+)*): /,
  // Gemini: `* GenerateContentRequest.tools[0].function_declarations[3].name: …`
  /(?:^|[\s*'"`.])((?:tools|contents|[a-z]+_?config|system_?instruction)[[.][\w.[\]]*)/i,
  // OpenAI's words where a server leaves `param` out
  /['`]([a-z_]+(?:\.?\[\d+\]|\.[\w-]+)*)['`]/,
];

/** What stands in the sentence itself. */
function saidIn(text: string | null): Place | null {
  if (text === null) return null;
  const list = /['"]loc['"]: ?[([]([^)\]]*)[)\]]/.exec(text)?.[1];
  if (list !== undefined) return located(list.split(',').map(scalarOf));
  for (const sentence of sentences) {
    const found = sentence.exec(text)?.[1];
    if (found !== undefined) return placeOf(found);
  }
  return null;
}

function scalarOf(text: string): string | number {
  const word = text.trim().replace(/^['"]|['"]$/g, '');
  return /^\d+$/.test(word) ? Number(word) : word;
}

/** As in `tools[0].function.name` or `messages.3.content`; what cannot be read ends it. */
function placeOf(path: string): Place | null {
  const place: (string | number)[] = [];
  step.lastIndex = 0;
  for (let found = step.exec(path); found !== null; found = step.exec(path)) {
    const [, index, number, name] = found;
    place.push(name ?? Number(index ?? number));
    if (place.length === stepsMax) break;
  }
  return typeof place[0] === 'string' ? place : null;
}
