// What the attempts of a search come to: the result of the target that answered, or why there is
// none, of all targets together.
import type { FailedOutcome, FoundOutcome } from '../../media/search/contract.ts';
import type { SearchTarget } from '../catalog/surface.ts';
import type { EngineTry, SearchResult } from './contract.ts';

/** A target that did not answer; one that is not asked was passed over. */
export interface Failed {
  isAsked: boolean;
  state: Exclude<FailedOutcome['state'], 'aborted'> | 'skipped';
  retryAfterMs: number | null;
}

type Failure = NonNullable<SearchResult['failure']>;

/** Targets that were asked decide; where none was, why they were passed over. */
export function failureOf(failed: readonly Failed[]): Failure {
  const asked = failed.filter(({ isAsked }) => isAsked);
  const judged = asked.length > 0 ? asked : failed;
  const all = (state: Failed['state']) =>
    judged.length > 0 && judged.every((each) => each.state === state);
  if (all('busy')) {
    const waits = judged.map(({ retryAfterMs }) => retryAfterMs).filter((each) => each !== null);
    return { kind: 'busy', retryAfterMs: waits.length === 0 ? null : Math.min(...waits) };
  }
  if (asked.length === 0) return { kind: 'no_route', retryAfterMs: null };
  if (all('refused')) return { kind: 'refused', retryAfterMs: null };
  return { kind: all('timeout') ? 'timeout' : 'failed', retryAfterMs: null };
}

export function foundResult(
  engines: EngineTry[],
  { upstream, costMicros, simulated }: SearchTarget,
  outcome: FoundOutcome,
  madeAtMs: number,
): SearchResult {
  const { state, items, related, dataJson, isTruncated, ignored } = outcome;
  return {
    state,
    items,
    related,
    dataJson,
    isTruncated,
    ignored,
    engines,
    routeId: upstream.routeId,
    costMicros,
    isSimulated: simulated,
    failure: null,
    isAsked: true,
    madeAtMs,
  };
}

export function failedResult(
  engines: EngineTry[],
  kind: Failure['kind'],
  retryAfterMs: number | null,
  isAsked: boolean,
): SearchResult {
  return {
    state: 'failed',
    items: [],
    related: [],
    dataJson: '{}',
    isTruncated: false,
    ignored: [],
    engines,
    routeId: null,
    costMicros: 0n,
    isSimulated: false,
    failure: { kind, retryAfterMs },
    isAsked,
    madeAtMs: Date.now(),
  };
}
