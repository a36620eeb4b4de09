// Errors of Messages servers → the neutral failure. An `error` event may come long after a 200, so
// its type has to say what a status says elsewhere.
import type { UpstreamFailure } from '../../../model/events.ts';
import { isMembers } from '../../../transport/members.ts';
import { errorIn, failureOfReply } from '../../../transport/refusal.ts';
import { withUnpaid } from '../../unpaid.ts';
import { saidFailure, withSaid } from '../said-failure.ts';

/** The members of an error that are told to the log. */
const told = ['type', 'message'];

/** Classifies a reply that is not 2xx. */
export function readFailure(
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  const error = errorIn(body);
  return withUnpaid(withSaid(failureOfReply(status, headers, body, told), error), error);
}

/** An `error` event inside a stream that had begun with 200. */
export function streamFailure(event: unknown): UpstreamFailure {
  return saidFailure(isMembers(event) && isMembers(event.error) ? event.error : event, told);
}
