// Error replies of the Gemini API (google.rpc.Status in JSON) → the neutral failure. A refused
// credential comes as 400, and the wait after a 429 stands in the body only.
import type { UpstreamFailure } from '../../../model/events.ts';
import { isMembers, type Members, wordOf } from '../../../transport/members.ts';
import {
  detailOf,
  errorIn,
  failureOfReply,
  kindOfStatus,
  retryAfterMs,
  retryAfterMsMax,
  withPlace,
} from '../../../transport/refusal.ts';
import { withUnpaid } from '../../unpaid.ts';
import { saidFailure } from '../said-failure.ts';

/** The members of an error that are told to the log. */
const told = ['status', 'code', 'message'];

const badCredential = /^API_KEY_(INVALID|EXPIRED|NOT_FOUND)$/;

/** Classifies a reply that is not 2xx. Some of its 400s say nothing about the request. */
export function readFailure(
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  const error = errorOf(parse(body));
  if (error === null) {
    return withUnpaid(failureOfReply(status, headers, body, told), errorIn(body));
  }
  const reasons = [error.status, ...detailsOf(error).map(({ reason }) => reason)].map(wordOf);
  const isCredential = reasons.some((reason) => badCredential.test(reason));
  const isElsewhere = isCredential || reasons.includes('FAILED_PRECONDITION');
  const kind = kindOfStatus(status);
  const failure: UpstreamFailure = {
    kind: kind === 'rejected' && isElsewhere ? 'failed' : kind,
    // What it is called everywhere else.
    status: status === 400 && isCredential ? 401 : status,
    retryAfterMs: retryAfterMs(headers) ?? retryDelayMs(error),
    detail: detailOf(error, told),
  };
  return withUnpaid(withPlace(failure, error), error);
}

/** An error inside a stream that had begun with 200. */
export function streamFailure(error: Members): UpstreamFailure {
  return { ...saidFailure(error, told), retryAfterMs: retryDelayMs(error) };
}

/** The error object of an envelope, which may stand in a list of one. */
export function errorOf(parsed: unknown): Members | null {
  const envelope: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isMembers(envelope)) return null;
  const { error } = envelope;
  if (typeof error === 'string') return { message: error };
  return isMembers(error) ? error : null;
}

/** `retryDelay` of google.rpc.RetryInfo: a protobuf duration, such as `45.837906927s`. */
function retryDelayMs(error: Members): number | null {
  for (const { retryDelay } of detailsOf(error)) {
    if (typeof retryDelay !== 'string' || !/^\d+(\.\d+)?s$/.test(retryDelay)) continue;
    return Math.min(Math.ceil(Number.parseFloat(retryDelay) * 1000), retryAfterMsMax);
  }
  return null;
}

function detailsOf(error: Members): Members[] {
  return Array.isArray(error.details) ? error.details.filter(isMembers) : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
