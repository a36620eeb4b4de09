// Searches as routes ask for them, for the tests of families.
import type { UpstreamTarget } from '../../../../media/providers/generation/contract.ts';
import type { SearchAsk, SearchParameters } from '../../../../media/search/contract.ts';
import type { ServedSurface } from '../../../../media/search/surfaces.ts';

const plain: SearchParameters = {
  limit: 10,
  page: 1,
  gl: null,
  hl: null,
  location: null,
  safe: 'moderate',
  timeRange: null,
  includeDomains: [],
  excludeDomains: [],
  ll: null,
  flights: null,
  hotels: null,
  routes: null,
};

export function askOf(
  surface: ServedSurface,
  query: string,
  parameters: Partial<SearchParameters> = {},
  extra: SearchAsk['extra'] = {},
): SearchAsk {
  return { surface, query, parameters: { ...plain, ...parameters }, extra };
}

export function targetOf(
  family: string,
  baseUrl: string,
  apiKey: string | null = null,
): UpstreamTarget {
  return { routeId: 'test/web_search', family, baseUrl, apiKey, upstreamModel: '' };
}
