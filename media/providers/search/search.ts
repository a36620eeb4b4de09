// What a web search is to the product: a query, and a few results as plain data. Each search
// provider's wire format is a folder beside this file.
import type { UpstreamTarget } from '../generation/contract.ts';
import { searchSerper } from './serper/search.ts';

export interface SearchHit {
  title: string;
  url: string;
  snippet: string;
  date: string | null;
}

export interface SearchQuery {
  query: string;
  /** As in `de-CH`: language and country of the results. */
  locale: string | null;
}

export interface SearchClient {
  /** Null: the provider failed or was too slow. Never throws. */
  search(
    target: UpstreamTarget,
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<SearchHit[] | null>;
}

type Search = SearchClient['search'];

const families: ReadonlyMap<string, Search> = new Map([['serper', searchSerper]]);

/** Families of search providers: they stand in the catalog beside those of models. */
export const searchFamilyNames: readonly string[] = [...families.keys()];

export const searchClient: SearchClient = {
  async search(target, query, signal) {
    const search = families.get(target.family);
    return search === undefined ? null : await search(target, query, signal);
  },
};
