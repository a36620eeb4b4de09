// How a response ended → the neutral reason.
import type { FinishReason } from '../../../model/events.ts';
import { isMembers, type Members } from '../../../transport/members.ts';

/** `called`: the answer has calls that wait for the client. */
export function readFinishReason(response: Members, called: boolean): FinishReason {
  const { status, incomplete_details: details } = response;
  const reason = isMembers(details) ? details.reason : null;
  if (reason === 'content_filter') return 'content_filter';
  if (status === 'incomplete' || typeof reason === 'string') return 'length';
  return called ? 'tool_calls' : 'stop';
}
