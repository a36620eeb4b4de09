// `error` events. Most say that one client message was refused and leave the session as it was;
// what a barge-in may cause by racing with the server is no news at all.
import { isMembers, type Members } from '../../../transport/members.ts';
import { detailCharactersMax } from '../../../transport/refusal.ts';
import { isUnpaid } from '../../unpaid.ts';
import type { LiveEvent, LiveFailureKind } from '../contract.ts';

/** Begins the event ids of messages whose refusal does not matter; servers echo them. */
export const harmlessPrefix = 'optional_';

const harmlessCodes: readonly unknown[] = [
  'response_cancel_not_active',
  'conversation_already_has_active_response',
];
/** For servers that echo no event id: what they say to a late cancel, wrong truncate or delete. */
const harmlessText =
  /no active response|already shorter than|only model output audio messages|deleting item/i;

export interface ServerError {
  code: string;
  text: string;
  isHarmless: boolean;
  /** Of the client message that it answers, or null. */
  eventId: string | null;
}

export function readError(value: unknown): ServerError {
  const error: Members = isMembers(value) ? value : {};
  const { type, code, message, param, event_id: eventId } = error;
  const parts = [type, code, message, param].filter((part) => typeof part === 'string');
  return {
    code: String(code ?? type ?? 'unknown').slice(0, 100),
    text: parts.join(': ').slice(0, detailCharactersMax),
    isHarmless:
      harmlessCodes.includes(code) ||
      (typeof eventId === 'string' && eventId.startsWith(harmlessPrefix)) ||
      (typeof message === 'string' && harmlessText.test(message)),
    eventId: typeof eventId === 'string' ? eventId : null,
  };
}

/** What an error that ends the session, or stands in the way of its set-up, means. */
export function failureOf({ code, text }: ServerError): LiveEvent {
  return { type: 'failed', kind: kindOf(code), text };
}

function kindOf(code: string): LiveFailureKind {
  if (isUnpaid(code)) return 'unpaid';
  if (code === 'session_expired' || code.startsWith('server_')) return 'closed';
  return /quota|rate_limit|overloaded|capacity/.test(code) ? 'busy' : 'refused';
}
