// What all families read alike in the reply to a poll: refusals, progress, usage, addresses of
// files. A poll never ends a job but by what it says about the job itself.
import { isCount, isMembers, type Members } from '../../transport/members.ts';
import type { Polled, VideoFile, VideoReply, VideoTarget, VideoUsage } from './contract.ts';
import { type ErrorForm, isModeration, parsed } from './vendor-error.ts';

/** What a reply that is not 2xx says. */
export function readPollRefusal(reply: VideoReply, form: ErrorForm): Polled {
  const { status, kind, retryAfterMs } = form.readFailure(reply.status, reply.headers, reply.body);
  if (reply.status === 404 || reply.status === 410) return { kind: 'lost' };
  if (status === 401 || reply.status === 403) return { kind: 'denied' };
  if (reply.status === 400 || reply.status === 422) {
    // One vendor tells so that what it made was refused.
    const error = form.errorIn(parsed(reply));
    if (error !== null && isModeration(error)) {
      return { kind: 'failed', code: 'moderation_blocked', costTicks: null };
    }
    if (kind === 'failed') return { kind: 'denied' };
  }
  return { kind: 'unclear', retryAfterMs };
}

export const unclear: Polled = { kind: 'unclear', retryAfterMs: null };

/** From 0 to 100, whichever scale it has; null: none is told. 1 is one percent. */
export function progressOf(value: unknown): number | null {
  if (typeof value !== 'number' || !(value >= 0)) return null;
  return Math.min(100, value < 1 ? value * 100 : value);
}

/** Tokens, where a server reports any; null: it does not. */
export function usageIn(usage: unknown): VideoUsage | null {
  if (!isMembers(usage) || !isCount(usage.total_tokens)) return null;
  const totalTokens = Math.floor(usage.total_tokens);
  const { completion_tokens: completion } = usage;
  return { completionTokens: isCount(completion) ? Math.floor(completion) : 0, totalTokens };
}

/** The file at an address that a reply named; null: it leads nowhere. */
export function fileAt(
  url: unknown,
  target: VideoTarget,
  credentials: Record<string, string>,
): VideoFile | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  const { protocol, origin } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return null;
  const isOwn = origin === new URL(target.baseUrl).origin;
  return { url, credentials: isOwn ? credentials : {} };
}

/** A file that is there, or the failure of a job that is done without one. */
export function doneWith(file: VideoFile | null, body: Members, costTicks: number | null): Polled {
  if (file === null) return { kind: 'failed', code: 'provider_failed', costTicks };
  return { kind: 'done', file, usage: usageIn(body.usage), costTicks };
}

/** `https://api.example.com/v1`, without a slash behind it. */
export function baseOf({ baseUrl }: VideoTarget): string {
  return baseUrl.replace(/\/+$/, '');
}

const plainHeaders = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': 'tollgate/1.0',
};

/** What every call has; a submission has more. */
export function headersOf(credentials: Record<string, string>): Record<string, string> {
  return { ...plainHeaders, ...credentials };
}
