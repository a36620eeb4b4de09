// Providers and a clock of the tests' own: what each target answers is a script, and time passes
// only where a script says so.
import type { AskProvider } from '../../../actors/search/attempts.ts';
import type { SearchClock } from '../../../actors/search/clock.ts';
import type { SearchItem, SearchOutcome } from '../../../media/search/contract.ts';

export type State = SearchOutcome['state'];

export function outcome(state: State, members: Partial<{ retryAfterMs: number }> = {}) {
  if (state === 'found' || state === 'partial' || state === 'empty') {
    const items: SearchItem[] =
      state === 'empty' ? [] : [{ position: 1, title: 'T', url: 'https://a.example/' }];
    const dataJson = '{"organic":[]}';
    return { state, items, related: [], dataJson, isTruncated: false, ignored: [] };
  }
  return { state, retryAfterMs: null, detail: `fake ${state}`, ...members };
}

/** Time that passes when it is told to. */
export function fakeClock(): SearchClock & { pass(ms: number): void } {
  let ms = 1_000_000;
  return {
    nowMs: () => ms,
    awakeMs: () => ms,
    pass: (by) => {
      ms += by;
    },
    async pause(by, signal) {
      if (!signal.aborted) ms += by;
    },
  };
}

export interface Asked {
  routeId: string;
  deadlineMs: number;
}

/** `find` answers each call; what was asked is noted. */
export function fakeClient(
  find: (
    routeId: string,
    call: number,
    bounds: { deadlineMs: number; signal: AbortSignal },
    query: string,
  ) => SearchOutcome | Promise<SearchOutcome>,
): { asked: Asked[]; search: AskProvider } {
  const asked: Asked[] = [];
  return {
    asked,
    async search({ routeId }, { query }, bounds) {
      asked.push({ routeId, deadlineMs: bounds.deadlineMs });
      return await find(routeId, asked.length, bounds, query);
    },
  };
}
