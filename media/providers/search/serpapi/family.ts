// SerpApi (https://serpapi.com/search-api): one call whose `engine` is the surface. The key stands
// in its URL, so that no error and no log may ever have that URL.
import type { SearchEndpoint, SearchFamily } from '../family.ts';
import { encodeSerpapi } from './encode/request.ts';
import { readFailure } from './failure.ts';
import { passes, takes } from './passes.ts';
import { readSerpapi } from './read/reply.ts';

const search: SearchEndpoint = { encode: encodeSerpapi, read: readSerpapi };

export const serpapiFamily: SearchFamily = {
  name: 'serpapi',
  endpoints: {
    web_search: search,
    engine_search: search,
    engine_images: search,
    engine_news: search,
    engine_maps: search,
    engine_places: search,
    engine_routes: search,
    engine_shopping: search,
    engine_scholar: search,
    engine_videos: search,
    engine_autocomplete: search,
    engine_flights: search,
    engine_hotels: search,
  },
  isScoring: false,
  passes,
  takes,
  refusesInJson: true,
  readFailure,
};
