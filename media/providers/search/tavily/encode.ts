// One `POST /search` for every surface: the topic and the country are what differs.
import type { ParameterValue, SearchAsk } from '../../../search/contract.ts';
import type { UpstreamTarget } from '../../generation/contract.ts';
import { cutQuery } from '../cut-query.ts';
import type { EncodedSearch } from '../family.ts';
import { countryName } from './countries.ts';

/** Longer ones are refused. */
const queryCharactersMax = 400;
/** More than this is refused; the price is the same up to it. */
export const resultsMax = 20;

export function encodeTavily(
  ask: SearchAsk,
  target: UpstreamTarget,
  passed: Readonly<Record<string, ParameterValue>>,
): EncodedSearch {
  const { parameters } = ask;
  const isNews = ask.surface === 'engine_news';
  const country = isNews || parameters.gl === null ? undefined : countryName(parameters.gl);
  return {
    method: 'POST',
    url: `${target.baseUrl.replace(/\/+$/, '')}/search`,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(target.apiKey === null ? {} : { authorization: `Bearer ${target.apiKey}` }),
    },
    body: JSON.stringify({
      ...passed,
      query: cutQuery(ask.query, queryCharactersMax),
      topic: isNews ? 'news' : 'general',
      // Another depth doubles the price, and an account may have another default.
      search_depth: 'basic',
      include_answer: false,
      // It knows no pages: those before this one are asked for too, and left out by the reader.
      max_results: Math.min(parameters.page * parameters.limit, resultsMax),
      ...(parameters.timeRange === null ? {} : { time_range: parameters.timeRange }),
      ...(parameters.includeDomains.length === 0
        ? {}
        : { include_domains: parameters.includeDomains }),
      ...(parameters.excludeDomains.length === 0
        ? {}
        : { exclude_domains: parameters.excludeDomains }),
      ...(country === undefined ? {} : { country }),
    }),
  };
}
