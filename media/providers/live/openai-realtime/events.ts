// Neutral events out of members of server events. Ids and texts of the wrong kind give none.
import { isMembers, type Members } from '../../../transport/members.ts';
import { isUnpaid } from '../../unpaid.ts';
import type { LiveEvent } from '../contract.ts';
import { unheard } from '../pcm.ts';
import type { AnswerItem } from './answers.ts';
import { failureOf, readError } from './failure.ts';

const outcomes = {
  completed: 'completed',
  cancelled: 'interrupted',
  incomplete: 'incomplete',
  failed: 'failed',
} as const;

export function hear(item: AnswerItem, bytes: Buffer): LiveEvent[] {
  if (item.isVoid) return item.isReported ? [] : unheard(bytes);
  const pcm = item.audio.add(bytes);
  if (pcm.length === 0) return [];
  if (item.isReported) return [{ type: 'audio', itemId: item.id, pcm, isReported: true }];
  return [{ type: 'audio', itemId: item.id, pcm }];
}

export function finish(item: AnswerItem): LiveEvent[] {
  item.isDone = true;
  return item.audio.bytes === 0 ? [] : [{ type: 'audio_done', itemId: item.id }];
}

export function userSaid(event: Members, text: unknown, final: boolean): LiveEvent[] {
  const itemId = idOf(event.item_id);
  if (itemId === null || typeof text !== 'string') return [];
  return [{ type: 'transcript', role: 'user', itemId, text, final }];
}

export function outcomeOf(status: unknown): (typeof outcomes)[keyof typeof outcomes] {
  const known: Record<string, (typeof outcomes)[keyof typeof outcomes] | undefined> = outcomes;
  return (typeof status === 'string' ? known[status] : undefined) ?? 'completed';
}

/** Why an answer failed; `failed` where every other one would, too. */
export function problemOf(details: unknown): LiveEvent {
  const error = readError(isMembers(details) ? details.error : null);
  if (isUnpaid(error.code)) return failureOf(error);
  return { type: 'problem', code: error.code, text: error.text };
}

/** Longer ones are nonsense: hundreds are kept, to know what is told twice. */
const idCharactersMax = 256;

export function idOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > idCharactersMax) return null;
  return value;
}
