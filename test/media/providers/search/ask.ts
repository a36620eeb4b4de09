// Searches as routes ask for them, for the tests of families.
import type { UpstreamTarget } from '../../../../media/providers/generation/contract.ts';
import type { SearchAsk, SearchParameters } from '../../../../media/search/contract.ts';
import type { ServedSurface } from '../../../../media/search/surfaces.ts';
import { plainParameters } from '../../../harness/search-surface.ts';

export function askOf(
  surface: ServedSurface,
  query: string,
  parameters: Partial<SearchParameters> = {},
  extra: SearchAsk['extra'] = {},
): SearchAsk {
  return { surface, query, parameters: { ...plainParameters, ...parameters }, extra };
}

export function targetOf(
  family: string,
  baseUrl: string,
  apiKey: string | null = null,
): UpstreamTarget {
  return { routeId: 'test/web_search', family, baseUrl, apiKey, upstreamModel: '' };
}
