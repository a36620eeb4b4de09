// What a web search is to the product: a query, and a few results as plain data.
import type { UpstreamTarget } from '../generation/contract.ts';

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
  /** Null: the provider failed or was too slow; `unpaid`: nobody has paid it. Never throws. */
  search(
    target: UpstreamTarget,
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<SearchHit[] | 'unpaid' | null>;
}
