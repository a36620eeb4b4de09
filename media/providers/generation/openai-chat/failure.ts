// Error replies of Chat Completions servers → the neutral failure.
import type { UpstreamFailure } from '../../../model/events.ts';
import { errorIn, failureOfReply } from '../../../transport/refusal.ts';
import { withUnpaid } from '../../unpaid.ts';
import { saidFailure, withSaid } from '../said-failure.ts';

/** The members of an error that are told to the log. */
const told = ['type', 'code', 'message'];

/** Classifies a reply that is not 2xx. */
export function readFailure(
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  const error = errorIn(body);
  return withUnpaid(withSaid(failureOfReply(status, headers, body, told), error), error);
}

/** An error inside a stream that had begun with 200. */
export function streamFailure(error: unknown): UpstreamFailure {
  return saidFailure(error, told);
}
