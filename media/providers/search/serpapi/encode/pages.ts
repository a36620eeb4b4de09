// Parameters of the engines that list pages, pictures and videos.
import type { SearchParameters } from '../../../../search/contract.ts';
import {
  type EngineEncoder,
  queryOf,
  queryWithHosts,
  rangeOf,
  regionOf,
  safeOf,
  startOf,
} from './parameters.ts';

/** What it gives without a number, which costs it extra parts of the page. */
const googleDefault = 10;

export const googleParameters: EngineEncoder = (ask, page) => ({
  q: queryWithHosts(ask),
  num: page.size === googleDefault ? null : page.size,
  start: startOf(page),
  location: ask.parameters.location,
  ...rangeOf(ask.parameters),
  ...safeOf(ask.parameters),
  ...regionOf(ask.parameters),
});

export const imagesParameters: EngineEncoder = (ask, page) => ({
  q: queryWithHosts(ask),
  ijn: page.index,
  location: ask.parameters.location,
  ...rangeOf(ask.parameters),
  ...safeOf(ask.parameters),
  ...regionOf(ask.parameters),
});

/** The engine of news reads a range in the query alone. */
const newsRanges = { day: 'when:1d', week: 'when:7d', month: 'when:1m', year: 'when:1y' } as const;

export const newsParameters: EngineEncoder = (ask) => ({
  q: [queryWithHosts(ask), ...whenOf(ask.parameters)].join(' '),
  ...regionOf(ask.parameters),
});

function whenOf({ timeRange }: SearchParameters): string[] {
  return timeRange === null ? [] : [newsRanges[timeRange]];
}

export const videosParameters: EngineEncoder = (ask, page) => ({
  q: queryWithHosts(ask),
  start: startOf(page),
  location: ask.parameters.location,
  ...rangeOf(ask.parameters),
  ...safeOf(ask.parameters),
  ...regionOf(ask.parameters),
});

/** YouTube's filters by the date of upload, as they stand in its own addresses. */
const uploadedWithin = { day: 'EgIIAg==', week: 'EgIIAw==', month: 'EgIIBA==', year: 'EgIIBQ==' };

/** It calls its query by another name. */
export const youtubeParameters: EngineEncoder = ({ query, parameters }) => ({
  search_query: queryOf(query),
  ...(parameters.timeRange === null ? {} : { sp: uploadedWithin[parameters.timeRange] }),
  ...regionOf(parameters),
});
