// Parts of an answer that a family does not know. What they mean is read from their members: text
// in them is text, and thinking is reasoning. Of the others the name of the kind is told.
import type { ModelEvent } from '../../model/events.ts';
import { isMembers } from '../../transport/members.ts';

export type LoosePart =
  | { type: 'text' | 'reasoning' | 'refusal'; text: string }
  | (ModelEvent & { type: 'unread' });

/** Kinds of thinking are called so by all vendors. */
const thinkingKind = /think|thought|reason/;
/** The server chooses the name, and logs have room for a short one. */
const shortName = /^[\w.-]{1,40}$/;

export function readLoosePart(part: unknown): LoosePart {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isMembers(part)) return unread(null);
  const { type, text, refusal } = part;
  const thoughts = part.thinking ?? part.reasoning;
  const isThinking = typeof type === 'string' && thinkingKind.test(type);
  if (isThinking || isWorded(thoughts)) {
    return { type: 'reasoning', text: wordsIn(isWorded(thoughts) ? thoughts : text) };
  }
  if (typeof text === 'string') return { type: 'text', text };
  if (typeof refusal === 'string') return { type: 'refusal', text: refusal };
  return unread(type);
}

/** The event for a part that means nothing here; `kind`: what its server calls it. */
export function unread(kind: unknown): ModelEvent & { type: 'unread' } {
  const isShort = typeof kind === 'string' && shortName.test(kind);
  return { type: 'unread', part: isShort ? kind : 'other' };
}

function isWorded(value: unknown): boolean {
  return typeof value === 'string' || Array.isArray(value);
}

/** Thoughts are a string, or a list of texts. */
export function wordsIn(thoughts: unknown): string {
  if (typeof thoughts === 'string') return thoughts;
  if (!Array.isArray(thoughts)) return '';
  return thoughts.map((one) => wordsIn(isMembers(one) ? one.text : one)).join('');
}
