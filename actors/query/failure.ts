// What a search without a result means for its caller, in our words: nothing of a provider's is
// told, nor anything of the query.
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import { abandoned } from '../billed-request/failure.ts';
import type { SearchResult } from '../search/contract.ts';
import { noRouteMessage } from './plan.ts';

const retryAfterSecondsMax = 3_600;

export function failureProblem(failure: SearchResult['failure']): PlainProblem {
  switch (failure?.kind) {
    case 'refused':
      return plainProblem(
        'invalid_request',
        'Every provider of this surface refused the search. A parameter cannot have its value.',
      );
    case 'busy': {
      const message = 'Every provider of this surface is busy. Try again.';
      const problem = plainProblem('upstream_busy', message);
      const seconds = Math.ceil((failure.retryAfterMs ?? 1_000) / 1_000);
      problem.headers['retry-after'] = String(Math.min(Math.max(seconds, 1), retryAfterSecondsMax));
      return problem;
    }
    case 'timeout':
      return plainProblem('upstream_timeout', 'No provider of this surface answered in time.');
    case 'no_route':
      return plainProblem('no_route_available', noRouteMessage);
    case 'aborted':
      return abandoned().problem;
    default:
      return plainProblem('upstream_error', 'The providers of this surface failed.');
  }
}
