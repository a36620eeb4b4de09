// Error replies of Chat Completions servers → the neutral failure.
import type { UpstreamFailure } from '../../../model/events.ts';
import { isMembers } from '../../../transport/members.ts';
import {
  detailOf,
  errorIn,
  failureOfReply,
  kindOfStatus,
  withPlace,
} from '../../../transport/refusal.ts';
import { withUnpaid } from '../../unpaid.ts';

/** The members of an error that are told to the log. */
const told = ['type', 'code', 'message'];

/** Classifies a reply that is not 2xx. */
export function readFailure(
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  return withUnpaid(failureOfReply(status, headers, body, told), errorIn(body));
}

/** An error inside a stream that had begun with 200: many servers tell its status as the code. */
export function streamFailure(error: unknown): UpstreamFailure {
  const code = isMembers(error) ? error.code : null;
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : null;
  const isLimit = typeof code === 'string' && code.startsWith('rate_limit');
  const kind = status === null ? 'failed' : kindOfStatus(status);
  const detail = detailOf(error, told);
  const failure = { kind: isLimit ? 'busy' : kind, status, retryAfterMs: null, detail } as const;
  return withUnpaid(withPlace(failure, error), error);
}
