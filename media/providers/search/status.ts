// What a status says of a search where the provider's own words say no more.
import type { SearchFailure } from './family.ts';

export function failureOfStatus(status: number): SearchFailure {
  switch (status) {
    case 400:
    case 413:
    case 414:
    case 422:
      return 'refused';
    case 401:
    case 403:
      return 'credential';
    case 402:
      return 'exhausted';
    case 408:
      return 'timeout';
    case 429:
      return 'busy';
    default:
      return 'failed';
  }
}
