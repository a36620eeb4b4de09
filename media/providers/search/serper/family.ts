// Serper (https://serper.dev): the results of one engine as JSON, an endpoint a kind of them.
import type { ServedSurface } from '../../../search/surfaces.ts';
import type { SearchEndpoint, SearchFamily } from '../family.ts';
import { encodeSearch, type SerperPath } from './encode.ts';
import { readFailure } from './failure.ts';
import { passes, takes } from './passes.ts';
import { readSearch } from './read.ts';

function endpoint(path: SerperPath): SearchEndpoint {
  return {
    encode: (ask, target, passed) => encodeSearch(path, ask, target, passed),
    read: (body, ask) => readSearch(path, body, ask),
  };
}

const endpoints: Partial<Record<ServedSurface, SearchEndpoint>> = {
  web_search: endpoint('search'),
  engine_search: endpoint('search'),
  engine_images: endpoint('images'),
  engine_news: endpoint('news'),
  engine_maps: endpoint('maps'),
  engine_places: endpoint('places'),
  engine_shopping: endpoint('shopping'),
  engine_scholar: endpoint('scholar'),
  engine_videos: endpoint('videos'),
  engine_autocomplete: endpoint('autocomplete'),
};

export const serperFamily: SearchFamily = {
  name: 'serper',
  endpoints,
  isScoring: false,
  passes,
  takes,
  refusesInJson: true,
  readFailure,
};
