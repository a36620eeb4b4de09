// The search providers of the simulator that development mode has. There is one for each family,
// with its own prefix of paths and its own surfaces.
import type { ServedSurface } from '../../search/surfaces.ts';

export interface SimulatedSearchProvider {
  name: string;
  family: string;
  /** Prefix of paths below the simulator's address. */
  basePath: string;
  surfaces: readonly ServedSurface[];
}

/** In the order in which a surface asks them. */
export const simulatedSearchProviders: readonly SimulatedSearchProvider[] = [
  {
    name: 'simulator-search',
    family: 'serper',
    basePath: '',
    surfaces: [
      'web_search',
      'engine_search',
      'engine_images',
      'engine_news',
      'engine_maps',
      'engine_places',
      'engine_shopping',
      'engine_scholar',
      'engine_videos',
      'engine_autocomplete',
    ],
  },
  {
    name: 'simulator-tavily',
    family: 'tavily',
    basePath: '/tavily',
    surfaces: ['ai_search', 'web_search', 'engine_news'],
  },
  {
    name: 'simulator-serpapi',
    family: 'serpapi',
    basePath: '/serpapi',
    surfaces: [
      'web_search',
      'engine_search',
      'engine_images',
      'engine_news',
      'engine_maps',
      'engine_places',
      'engine_routes',
      'engine_shopping',
      'engine_scholar',
      'engine_videos',
      'engine_autocomplete',
      'engine_flights',
      'engine_hotels',
    ],
  },
  {
    name: 'simulator-searxng',
    family: 'searxng',
    basePath: '/searxng',
    surfaces: [
      'web_search',
      'ai_search',
      'engine_images',
      'engine_news',
      'engine_maps',
      'engine_scholar',
      'engine_videos',
      'engine_autocomplete',
    ],
  },
];
