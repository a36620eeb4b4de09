// SearXNG (https://docs.searxng.org), which asks many engines and answers as one.
import type { ServedSurface } from '../../../search/surfaces.ts';
import type { SearchEndpoint, SearchFamily } from '../family.ts';
import { type Category, encodeSearch, encodeSuggestions } from './encode.ts';
import { readFailure } from './failure.ts';
import { passes, takes } from './passes.ts';
import { readSearch, readSuggestions } from './read.ts';

function endpoint(category: Category): SearchEndpoint {
  return {
    encode: (ask, target, passed) => encodeSearch(category, ask, target, passed),
    read: (body) => readSearch(category, body),
  };
}

const endpoints: Partial<Record<ServedSurface, SearchEndpoint>> = {
  web_search: endpoint('general'),
  ai_search: endpoint('general'),
  engine_images: endpoint('images'),
  engine_news: endpoint('news'),
  engine_videos: endpoint('videos'),
  engine_scholar: endpoint('science'),
  engine_maps: endpoint('map'),
  engine_autocomplete: { encode: encodeSuggestions, read: readSuggestions },
};

export const searxngFamily: SearchFamily = {
  name: 'searxng',
  endpoints,
  // Its scores are sums over engines, without a bound.
  isScoring: false,
  passes,
  takes,
  // Its 403 is a page: it means that JSON is switched off.
  refusesInJson: false,
  readFailure,
};
