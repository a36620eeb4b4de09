// Where the web search of a generation stands, and what searches the hold has to cover.
import { searchesOffered } from '../../media/model/hosted-tools.ts';
import { searchesMax } from '../../media/model/search-tools.ts';
import type { SearchHit } from '../search/web-search.ts';
import type { GenerationSpec } from './spec.ts';

export interface SearchState {
  /** `due`: to be run before a candidate without a search of its own. */
  phase: 'none' | 'due' | 'running' | 'done' | 'failed';
  hits: SearchHit[];
  /** Searches to be paid for. */
  calls: number;
  /** A provider's own search has been seen in the answer. */
  seen: boolean;
  /** The answer is shown when that is seen: it was required. */
  awaited: boolean;
  /** Ours were cited: the end of an answer may be read twice, when the hold is short. */
  cited: boolean;
  /** Ends a search of ours that nobody waits for any more. */
  controller: AbortController | null;
  /** A provider's own search was announced, and its end was not. */
  announced: boolean;
  /** The last call asks for a search that its provider's usage does not count. */
  uncounted: boolean;
}

export function newSearch({ search }: Pick<GenerationSpec, 'search'>): SearchState {
  const isDue = search !== null && (search.query !== null || search.required);
  return {
    phase: isDue ? 'due' : 'none',
    hits: [],
    calls: 0,
    seen: false,
    awaited: false,
    cited: false,
    controller: null,
    announced: false,
    uncounted: false,
  };
}

/** What results may add to the input: eight of them are about half of it, as they usually are. */
export const hitsTokensMax = 3_000;

/** How many searches of ours the hold has to cover. */
export function searchesOf({ search }: Pick<GenerationSpec, 'search'>): number {
  return search === null || search.target === null ? 0 : 1;
}

/** How many searches of a provider's own it has to cover besides: any candidate may answer. */
export function hostedSearchesOf(spec: Pick<GenerationSpec, Asked>): number {
  const offered = searchesOffered(spec.hosted);
  if (offered > 0 || spec.search === null) return offered;
  if (spec.search.required && spec.search.target !== null) return 0;
  const mayAdd = spec.candidates.some(({ model }) => model.capabilities.includes('web_search'));
  return mayAdd ? searchesMax : 0;
}

type Asked = 'hosted' | 'search' | 'candidates';
