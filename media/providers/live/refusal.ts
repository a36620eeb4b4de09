// What the end of a live connection means, told by an HTTP status at its begin or by a close code
// (RFC 6455, 7.4.1, and those that the vendors send). Reasons are matched, never shown.
import { errorIn } from '../../transport/refusal.ts';
import { isUnpaid } from '../unpaid.ts';
import type { LiveFailureKind } from './contract.ts';

const exhausted = /quota|exhausted|rate.?limit|too many/i;

/** A handshake that was answered with anything but 101. Redirects are not followed. */
export function kindOfReply(status: number, body: string): LiveFailureKind {
  if (status === 402 || (status < 500 && isUnpaid(errorIn(body)))) return 'unpaid';
  if (status === 429 || status === 503 || status === 529) return 'busy';
  if (status === 408 || status === 504) return 'timeout';
  return status >= 500 ? 'connect' : 'refused';
}

export function kindOfClose(code: number, reason: string, wasReady: boolean): LiveFailureKind {
  if (isUnpaid(reason)) return 'unpaid';
  if (code === 1013 || exhausted.test(reason)) return 'busy';
  switch (code) {
    case 1002:
    case 1003:
    case 1009:
      return 'garbage';
    // Invalid argument: what we sent would be wrong again.
    case 1007:
      return 'refused';
    // Once a session runs, its policy is how long that may be.
    case 1008:
      return wasReady ? 'closed' : 'refused';
    default:
      return !wasReady && code >= 3000 ? 'refused' : 'closed';
  }
}
