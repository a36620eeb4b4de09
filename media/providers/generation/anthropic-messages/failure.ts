// Errors of Messages servers → the neutral failure. An `error` event may come long after a 200, so
// its type has to say what a status says elsewhere.
import type { UpstreamFailure } from '../../../model/events.ts';
import { isMembers } from '../../../transport/members.ts';
import {
  detailOf,
  errorIn,
  failureOfReply,
  plainFailure,
  withPlace,
} from '../../../transport/refusal.ts';
import { withUnpaid } from '../../unpaid.ts';

/** The members of an error that are told to the log. */
const told = ['type', 'message'];

/** Classifies a reply that is not 2xx. */
export function readFailure(
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  return withUnpaid(failureOfReply(status, headers, body, told), errorIn(body));
}

const kinds: Readonly<Record<string, UpstreamFailure['kind']>> = {
  invalid_request_error: 'rejected',
  request_too_large: 'rejected',
  rate_limit_error: 'busy',
};

/** An `error` event inside a stream that had begun with 200. */
export function streamFailure(event: unknown): UpstreamFailure {
  const error = isMembers(event) && isMembers(event.error) ? event.error : event;
  const type = isMembers(error) && typeof error.type === 'string' ? error.type : '';
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  const failure = plainFailure(kind ?? 'failed', detailOf(error, told));
  return withUnpaid(withPlace(failure, error), error);
}
