// What a reply to a submission means (section 3 of the contract of videos), in one place for all
// families. What is not certain is `unknown`: a job may exist, and nothing is submitted again.
import type { Submitted, VideoReply } from './contract.ts';
import { type ErrorForm, isModeration, parsed } from './vendor-error.ts';

export interface SubmissionForm extends ErrorForm {
  /** The job's id in a 2xx body; null: there is none that could be asked for. */
  idIn(body: unknown): string | null;
}

/** Nothing was made, whatever the body says. */
const refusals: ReadonlySet<number> = new Set([401, 403, 404, 413, 415, 429, 529]);
const finals: ReadonlySet<number> = new Set([400, 422]);
const busy: ReadonlySet<number> = new Set([429, 503, 529]);

export function readSubmission(reply: VideoReply, form: SubmissionForm): Submitted {
  const body = parsed(reply);
  if (reply.status >= 200 && reply.status < 300) {
    const upstreamId = form.idIn(body);
    return upstreamId === null ? { kind: 'unknown' } : { kind: 'accepted', upstreamId };
  }
  const error = form.errorIn(body);
  const { status, kind, retryAfterMs } = form.readFailure(reply.status, reply.headers, reply.body);
  if (finals.has(reply.status)) {
    if (error !== null && isModeration(error)) return { kind: 'final', code: 'moderation_blocked' };
    // Some vendors refuse a credential with 400, which says nothing about what was asked for.
    const isElsewhere = status === 401 || kind === 'failed' || kind === 'unpaid';
    if (isElsewhere) return { kind: 'refused', fault: 'down', retryAfterMs };
    return { kind: 'final', code: 'provider_rejected' };
  }
  // A 503 of a proxy may stand for a request that went through; the vendor's own does not.
  const isRefused = refusals.has(reply.status) || (reply.status === 503 && error !== null);
  if (!isRefused) return { kind: 'unknown' };
  const isBusy = busy.has(reply.status) && kind !== 'unpaid';
  return { kind: 'refused', fault: isBusy ? 'busy' : 'down', retryAfterMs };
}

const printable = /^[\u0021-\u007e]{1,512}$/;

/** An id that can stand in a path; null: it is none, or it would lead elsewhere. */
export function upstreamIdOf(value: unknown): string | null {
  if (typeof value !== 'string' || !printable.test(value)) return null;
  const segments = value.split('/');
  return segments.some((segment) => /^\.{0,2}$/.test(segment)) ? null : value;
}
