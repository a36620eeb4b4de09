// The vendor gives a JSON object only to who says the word in the input: what `instructions` say
// does not count, and there stand the system messages of other formats.
import { isMembers, type Members } from '../../../transport/members.ts';

const reminder: Members = { role: 'system', content: 'Answer with one JSON object.' };
/** Looked at in each text; a reminder too many does no harm. */
const charactersMax = 10_000;

/** `input`, with a reminder in front where nobody says it. */
export function sayingJson(input: unknown): unknown {
  if (isSaid(input)) return input;
  if (Array.isArray(input)) return [reminder, ...input];
  return typeof input === 'string' ? [reminder, { role: 'user', content: input }] : input;
}

/** Of a text, of items, and of their parts. */
function isSaid(value: unknown): boolean {
  if (typeof value === 'string') return /json/i.test(value.slice(0, charactersMax));
  if (Array.isArray(value)) return value.some(isSaid);
  return isMembers(value) && (isSaid(value.content) || isSaid(value.text));
}
