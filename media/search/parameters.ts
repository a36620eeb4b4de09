// Reads what a caller asks for: the query, and its parameters from two places of the body. Known
// parameters are checked, unknown ones left for the providers' lists, others named as ignored.
import type { ParameterValue, SearchAsk, SearchParameters } from './contract.ts';
import { readEverywhere, readMapPoint, readPages } from './parameters/everywhere.ts';
import { readFlights } from './parameters/flights.ts';
import { isForm, isShort } from './parameters/forms.ts';
import { type Given, type Parameters, refuseAt, restOf } from './parameters/given.ts';
import { readHotels } from './parameters/hotels.ts';
import { mayPass, parameterBytesMax, parametersMax, shownName } from './parameters/names.ts';
import { readRoutes } from './parameters/routes.ts';
import { factsOf, type ServedSurface } from './surfaces.ts';

const queryMax = 2_000;
const shortQueryMax = 200;

export interface QueryMembers {
  query: string;
  params?: object;
  /** Every member of the body that has no meaning of its own: a parameter, over `params`. */
  rest: object;
}

export type ReadQuery =
  | {
      ok: true;
      ask: SearchAsk;
      /** Names that nobody takes; a family may add some of `ask.extra`. */
      ignored: string[];
      /** Defaults that were filled in, by the names under which they are asked for. */
      assumed: Record<string, ParameterValue>;
    }
  | { ok: false; path: string; message: string };

/** For a cited answer the surface is a search; the caller replaces it by its own. */
export function readQuery(
  surface: ServedSurface | 'web_answer',
  members: QueryMembers,
  nowMs: number,
): ReadQuery {
  const served = surface === 'web_answer' ? 'web_search' : surface;
  const query = members.query.toWellFormed().normalize('NFC').trim();
  const max = served === 'engine_autocomplete' ? shortQueryMax : queryMax;
  const length = query.length > 2 * max ? max + 1 : [...query].length;
  if (length < 1 || length > max) {
    const message = `Invalid value for 'query': expected 1 to ${max} characters.`;
    return { ok: false, path: 'query', message };
  }
  const parameters = gather(members, nowMs);
  const read = readKnown(parameters, served, query);
  if (parameters.fault !== null) return { ok: false, ...parameters.fault };
  const extra = readExtra(parameters);
  return {
    ok: true,
    ask: { surface: served, query, parameters: read, extra },
    ignored: [...new Set([...parameters.ignored].map(shownName))],
    assumed: parameters.assumed,
  };
}

/** Both places in one table; what may be no parameter is ignored. */
function gather({ params = {}, rest }: QueryMembers, nowMs: number): Parameters {
  const given = new Map<string, Given>();
  const parameters: Parameters = {
    given,
    taken: new Set(),
    assumed: {},
    ignored: new Set(),
    fault: null,
    nowMs,
  };
  const names = new Set([...Object.keys(params), ...Object.keys(rest)]);
  if (names.size > parametersMax) {
    const message = `More than ${parametersMax} parameters are given.`;
    refuseAt(parameters, 'params', message);
    return parameters;
  }
  let bytes = 0;
  for (const name of names) {
    const place = Object.hasOwn(rest, name) ? rest : params;
    const value: unknown = Object.getOwnPropertyDescriptor(place, name)?.value;
    if (!mayPass(name) || !isForm(value)) {
      parameters.ignored.add(name);
      continue;
    }
    bytes += Buffer.byteLength(name) + Buffer.byteLength(JSON.stringify(value));
    given.set(name, { value, path: place === rest ? name : `params.${name}` });
  }
  if (bytes > parameterBytesMax) {
    refuseAt(parameters, 'params', `Parameters are over ${parameterBytesMax} bytes in all.`);
  }
  return parameters;
}

function readKnown(
  parameters: Parameters,
  surface: ServedSurface,
  query: string,
): SearchParameters {
  const { groups } = factsOf(surface);
  const isOf = (group: (typeof groups)[number]) => groups.includes(group);
  return {
    ...readEverywhere(parameters),
    ...(isOf('pages')
      ? readPages(parameters)
      : { timeRange: null, includeDomains: [], excludeDomains: [] }),
    ll: isOf('map') ? readMapPoint(parameters) : null,
    flights: isOf('flights') ? readFlights(parameters, query) : null,
    hotels: isOf('hotels') ? readHotels(parameters) : null,
    routes: isOf('routes') ? readRoutes(parameters, query) : null,
  };
}

/** What is too long to be passed on as it is, is ignored. */
function readExtra(parameters: Parameters): Record<string, ParameterValue> {
  const extra: Record<string, ParameterValue> = {};
  for (const [name, value] of Object.entries(restOf(parameters))) {
    if (isShort(value)) extra[name] = value;
    else parameters.ignored.add(name);
  }
  return extra;
}
