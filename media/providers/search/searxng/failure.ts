// SearXNG's refusals. A 403 means that its JSON is switched off, which is the operator's to mend as
// a wrong key is.
import type { SearchFailure } from '../family.ts';
import { failureOfStatus } from '../status.ts';

export function readFailure(status: number): SearchFailure {
  return failureOfStatus(status);
}
