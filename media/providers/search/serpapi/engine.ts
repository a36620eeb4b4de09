// Which engine serves what is asked, and how many results it gives at once.
import type { SearchAsk } from '../../../search/contract.ts';
import { type ProviderPage, providerPage } from '../paging.ts';

export type Engine =
  | 'google'
  | 'google_images'
  | 'google_news'
  | 'google_videos'
  | 'youtube'
  | 'google_maps'
  | 'google_local'
  | 'google_maps_directions'
  | 'google_shopping'
  | 'google_scholar'
  | 'google_autocomplete'
  | 'google_flights'
  | 'google_hotels';

export function engineOf({ surface, parameters }: SearchAsk): Engine {
  switch (surface) {
    case 'web_search':
    case 'ai_search':
    case 'engine_search':
      return 'google';
    case 'engine_images':
      return 'google_images';
    case 'engine_news':
      return 'google_news';
    case 'engine_videos':
      return isOnlyYoutube(parameters.includeDomains) ? 'youtube' : 'google_videos';
    case 'engine_maps':
      return 'google_maps';
    case 'engine_places':
      // The engine of local results knows no coordinates.
      return parameters.ll === null ? 'google_local' : 'google_maps';
    case 'engine_routes':
      return 'google_maps_directions';
    case 'engine_shopping':
      return 'google_shopping';
    case 'engine_scholar':
      return 'google_scholar';
    case 'engine_autocomplete':
      return 'google_autocomplete';
    case 'engine_flights':
      return 'google_flights';
    case 'engine_hotels':
      return 'google_hotels';
  }
}

/** YouTube's own engine says more of its videos than Google does. */
function isOnlyYoutube(hosts: readonly string[]): boolean {
  return hosts.length > 0 && hosts.every((host) => /^(?:(?:www|m)\.)?youtube\.com$/.test(host));
}

/** No engine that has one page gives as many. */
const allAtOnce = 1_000;

const sizes: Readonly<Record<Engine, number>> = {
  /** It takes a number. */
  google: 50,
  google_images: 100,
  google_news: allAtOnce,
  google_videos: 10,
  youtube: allAtOnce,
  google_maps: 20,
  google_local: 20,
  google_maps_directions: allAtOnce,
  google_shopping: 60,
  /** It takes a number. */
  google_scholar: 20,
  google_autocomplete: allAtOnce,
  google_flights: allAtOnce,
  google_hotels: allAtOnce,
};

const numbered: ReadonlySet<Engine> = new Set(['google', 'google_scholar']);

export interface EnginePage extends ProviderPage {
  /** Results that the engine gives at once. */
  size: number;
}

export function enginePage(engine: Engine, { parameters }: SearchAsk): EnginePage {
  const size = numbered.has(engine) ? Math.min(parameters.limit, sizes[engine]) : sizes[engine];
  return { ...providerPage(parameters, size), size };
}
