// Serper's refusals: `{message, statusCode?}`. A used-up plan comes with the status of a faulty
// request.
import { isMembers } from '../../../transport/members.ts';
import { isUnpaid } from '../../unpaid.ts';
import type { SearchFailure } from '../family.ts';
import { failureOfStatus } from '../status.ts';

export function readFailure(status: number, body: unknown): SearchFailure {
  const message = isMembers(body) ? body.message : undefined;
  return status < 500 && isUnpaid(message) ? 'exhausted' : failureOfStatus(status);
}
