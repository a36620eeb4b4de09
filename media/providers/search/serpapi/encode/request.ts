// One `GET /search.json`: the engine's parameters, and the key, which stands in the URL.
import type { ParameterValue, SearchAsk } from '../../../../search/contract.ts';
import type { UpstreamTarget } from '../../../generation/contract.ts';
import type { EncodedSearch } from '../../family.ts';
import { type Engine, engineOf, enginePage } from '../engine.ts';
import { autocompleteParameters, scholarParameters, shoppingParameters } from './catalogs.ts';
import {
  googleParameters,
  imagesParameters,
  newsParameters,
  videosParameters,
  youtubeParameters,
} from './pages.ts';
import type { EngineEncoder } from './parameters.ts';
import { directionsParameters, localParameters, mapsParameters } from './places.ts';
import { flightsParameters, hotelsParameters } from './travel.ts';

const encoders: Readonly<Record<Engine, EngineEncoder>> = {
  google: googleParameters,
  google_images: imagesParameters,
  google_news: newsParameters,
  google_videos: videosParameters,
  youtube: youtubeParameters,
  google_maps: mapsParameters,
  google_local: localParameters,
  google_maps_directions: directionsParameters,
  google_shopping: shoppingParameters,
  google_scholar: scholarParameters,
  google_autocomplete: autocompleteParameters,
  google_flights: flightsParameters,
  google_hotels: hotelsParameters,
};

export function encodeSerpapi(
  ask: SearchAsk,
  target: UpstreamTarget,
  passed: Readonly<Record<string, ParameterValue>>,
): EncodedSearch {
  const engine = engineOf(ask);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({
    ...passed,
    ...encoders[engine](ask, enginePage(engine, ask)),
  })) {
    if (value !== null) query.set(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  query.set('engine', engine);
  if (target.apiKey !== null) query.set('api_key', target.apiKey);
  return {
    method: 'GET',
    url: `${target.baseUrl.replace(/\/+$/, '')}/search.json?${query}`,
    headers: { accept: 'application/json' },
    body: null,
  };
}
