// Reads a reply of any engine with 200. It may be one that still runs, or an error in
// words; items beside an error count all the same.
import type { Reading, SearchAsk } from '../../../../search/contract.ts';
import { isMembers, type Members } from '../../../../transport/members.ts';
import type { SearchReading } from '../../family.ts';
import { shownOf } from '../../reading.ts';
import { shapes } from '../data.ts';
import { type Engine, engineOf, enginePage } from '../engine.ts';
import { saysNothingFound } from '../failure.ts';
import { readPapers, readProducts, readSuggestions } from './catalogs.ts';
import { relatedIn, within } from './members.ts';
import { readImages, readNews, readPages, readVideos } from './pages.ts';
import { readPlaces } from './places.ts';
import { readRoutes } from './routes.ts';
import { readFlights, readHotels } from './travel.ts';

type ReadList = (body: Members, ask: SearchAsk) => Reading[];

const readers: Readonly<Record<Engine, ReadList>> = {
  google: readPages,
  google_images: readImages,
  google_news: readNews,
  google_videos: readVideos,
  youtube: readVideos,
  google_maps: readPlaces,
  google_local: readPlaces,
  google_maps_directions: readRoutes,
  google_shopping: readProducts,
  google_scholar: readPapers,
  google_autocomplete: readSuggestions,
  google_flights: readFlights,
  google_hotels: readHotels,
};

export function readSerpapi(body: unknown, ask: SearchAsk): SearchReading {
  if (!isMembers(body) || isUnfinished(body)) return { state: 'failed' };
  const engine = engineOf(ask);
  const all = readers[engine](body, ask);
  // Items beside an error were found all the same.
  if (all.length === 0) return { state: saysEmpty(body) ? 'empty' : 'failed' };
  const readings = all.slice(enginePage(engine, ask).skipped);
  if (readings.length === 0) return { state: 'empty' };
  return {
    state: 'read',
    readings,
    related: relatedIn(body),
    isPartial: false,
    ...shownOf(body, shapes[engine]),
  };
}

function isUnfinished(body: Members): boolean {
  const status = within(body, 'search_metadata', 'status');
  return status === 'Processing' || status === 'Queued';
}

/** A reply without items is empty where it says so, or says that it succeeded. */
function saysEmpty(body: Members): boolean {
  const { search_information: information, error } = body;
  const states = isMembers(information) ? Object.entries(information) : [];
  if (states.some(([name, state]) => /_state$/.test(name) && state === 'Fully empty')) return true;
  if (error !== undefined && error !== null) {
    return typeof error === 'string' && saysNothingFound(error);
  }
  return within(body, 'search_metadata', 'status') === 'Success';
}
