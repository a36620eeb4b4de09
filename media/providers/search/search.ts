// What a web search is to the product: a query, and a few results as plain data. Each search
// provider's wire format is a folder beside this file.
import type { SearchClient } from './contract.ts';
import { searchSerper } from './serper/search.ts';

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
