// Asks as the tests of this folder make them: one of each surface, as `readQuery` reads it.
import { strict as assert } from 'node:assert';
import type { SearchAsk } from '../../../media/search/contract.ts';
import { type ReadQuery, readQuery } from '../../../media/search/parameters.ts';
import type { ServedSurface } from '../../../media/search/surfaces.ts';

/** Saturday, 28 November 2026, 15:00 UTC. */
export const nowMs = Date.UTC(2026, 10, 28, 15);

const queries: Readonly<Partial<Record<ServedSurface, string>>> = {
  engine_flights: 'ZRH JFK',
  engine_routes: 'Bern to Basel',
};

export function read(
  surface: ServedSurface | 'web_answer',
  params: object = {},
  query = queries[surface as ServedSurface] ?? 'tolls of the pass',
  rest: object = {},
): ReadQuery {
  return readQuery(surface, { query, params, rest }, nowMs);
}

export function askOf(surface: ServedSurface, params: object = {}): SearchAsk {
  const found = read(surface, params);
  assert.ok(found.ok, JSON.stringify(found));
  return found.ask;
}
