// Reads refusals of Tavily. A spent plan is 432 or 433, which no rule of HTTP tells apart from a
// fault of the request.
import { isMembers } from '../../../transport/members.ts';
import type { SearchFailure } from '../family.ts';
import { failureOfStatus } from '../status.ts';

/** The words of 432, should they come with another status. */
const isSpent = /usage limit|exceeds? your plan|upgrade your plan|pay-?as-?you-?go/i;

export function readFailure(status: number, body: unknown): SearchFailure {
  if (status === 432 || status === 433) return 'exhausted';
  const failure = failureOfStatus(status);
  // The words of a refused request may be the caller's own.
  const mayBeSpent = failure === 'credential' || failure === 'busy';
  return mayBeSpent && isSpent.test(wordsOf(body)) ? 'exhausted' : failure;
}

/** `{detail: {error}}`, `{detail: "…"}` or `{detail: [{msg}]}`. */
function wordsOf(body: unknown): string {
  if (!isMembers(body)) return '';
  const details: unknown[] = Array.isArray(body.detail) ? body.detail : [body.detail, body.error];
  return details
    .map((detail) => (isMembers(detail) ? (detail.error ?? detail.msg) : detail))
    .filter((word) => typeof word === 'string')
    .join('\n');
}
