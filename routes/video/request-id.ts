// The idempotency key of a video or an analysis, wherever it was given.
import { Problem } from '../../runtime/problem.ts';
import { requestIdPattern } from './schema.ts';

/** The header keeps to the pattern of the member. @throws Problem invalid_request */
export function requestIdOf(key: string | null): string | null {
  if (key === null || requestIdPattern.test(key)) return key;
  throw new Problem('invalid_request', {
    message: 'An idempotency key here has letters, digits and ._:/- (at most 160).',
    param: 'idempotency-key',
  });
}
