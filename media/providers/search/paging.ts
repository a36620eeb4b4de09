// Pages of a caller over pages of a provider that gives a fixed number of results at once. A page
// never spans two of the provider's, so that none is asked twice and no result is left out.
import type { SearchParameters } from '../../search/contract.ts';

export interface ProviderPage {
  /** From 0. */
  index: number;
  /** How many of its first results belong to earlier pages of the caller. */
  skipped: number;
}

export function providerPage(
  { limit, page }: Pick<SearchParameters, 'limit' | 'page'>,
  size: number,
): ProviderPage {
  const pagesEach = Math.ceil(size / limit);
  const index = Math.floor((page - 1) / pagesEach);
  return { index, skipped: (page - 1 - index * pagesEach) * limit };
}
