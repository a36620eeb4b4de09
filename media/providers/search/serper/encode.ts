// Serper's requests (https://serper.dev): one POST with the query in a JSON body, the key in a
// header. Pages of 10 results are asked for: larger ones would cost twice as much.
import type { MapPoint, ParameterValue, SearchAsk } from '../../../search/contract.ts';
import type { UpstreamTarget } from '../../generation/contract.ts';
import { withDomains } from '../domains.ts';
import type { EncodedSearch } from '../family.ts';
import { type ProviderPage, providerPage } from '../paging.ts';

export type SerperPath =
  | 'search'
  | 'images'
  | 'news'
  | 'maps'
  | 'places'
  | 'shopping'
  | 'scholar'
  | 'videos'
  | 'autocomplete';

type Body = Record<string, ParameterValue>;

/** The only size that costs one search; three endpoints have their own. */
const pageResults = 10;
/** Suggestions come at once. */
const allAtOnce = 1_000;
const ownSizes: ReadonlyMap<SerperPath, number> = new Map([
  ['maps', 20],
  ['shopping', 40],
  ['autocomplete', allAtOnce],
]);
const zoomDefault = 14;
const mapped: ReadonlySet<SerperPath> = new Set(['maps', 'places']);
const times = { day: 'qdr:d', week: 'qdr:w', month: 'qdr:m', year: 'qdr:y' };

export function encodeSearch(
  path: SerperPath,
  ask: SearchAsk,
  { baseUrl, apiKey }: UpstreamTarget,
  passed: Readonly<Record<string, ParameterValue>>,
): EncodedSearch {
  const { query, parameters } = ask;
  const { gl, hl, location, timeRange, ll } = parameters;
  const { index } = pageOf(path, ask);
  const body: Body = { ...passed, q: withDomains(query, parameters) };
  if (gl !== null) body.gl = gl;
  if (hl !== null) body.hl = hl;
  if (path !== 'autocomplete') {
    if (location !== null) body.location = location;
    if (index > 0) body.page = index + 1;
  }
  if (!ownSizes.has(path)) body.num = pageResults;
  if (timeRange !== null) body.tbs = [times[timeRange], passed.tbs ?? []].flat().join();
  if (ll !== null && mapped.has(path)) body.ll = pointOf(ll);
  return {
    method: 'POST',
    url: `${baseUrl.replace(/\/+$/, '')}/${path}`,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
    },
    body: JSON.stringify(body),
  };
}

/** Which of the provider's pages has the caller's, and how many of its results come before. */
export function pageOf(path: SerperPath, { parameters }: SearchAsk): ProviderPage {
  return providerPage(parameters, ownSizes.get(path) ?? pageResults);
}

function pointOf({ latitude, longitude, zoom }: MapPoint): string {
  return `@${latitude},${longitude},${zoom ?? zoomDefault}z`;
}
