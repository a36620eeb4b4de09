// Parameters of the engines of maps: places, local results and directions.
import type { MapPoint, RouteParameters } from '../../../../search/contract.ts';
import {
  type EngineEncoder,
  type EngineParameters,
  queryOf,
  regionOf,
  startOf,
} from './parameters.ts';

const zoomDefault = 14;
const zoomMin = 3;
const zoomMax = 21;

/** It knows no place by its name: one that is asked for stands in the query. */
export const mapsParameters: EngineEncoder = ({ query, parameters }, page) => ({
  type: 'search',
  q: queryOf([query, ...(parameters.location === null ? [] : [parameters.location])].join(' ')),
  ll: parameters.ll === null ? null : pointOf(parameters.ll),
  start: startOf(page),
  ...regionOf(parameters),
});

export const localParameters: EngineEncoder = ({ query, parameters }, page) => ({
  q: queryOf(query),
  location: parameters.location,
  start: startOf(page),
  ...regionOf(parameters),
});

function pointOf({ latitude, longitude, zoom }: MapPoint): string {
  const bounded = Math.min(Math.max(zoom ?? zoomDefault, zoomMin), zoomMax);
  return `@${plain(latitude)},${plain(longitude)},${plain(bounded)}z`;
}

/** Six places are decimeters, and have no exponent, which is not read. */
function plain(value: number): string {
  return String(Number(value.toFixed(6)));
}

const travelModes = { driving: 0, cycling: 1, walking: 2, transit: 3 } as const;
const kilometers = 0;

export const directionsParameters: EngineEncoder = ({ parameters }) => ({
  ...(parameters.routes === null ? {} : routeOf(parameters.routes)),
  distance_unit: kilometers,
  ...regionOf(parameters),
});

function routeOf(route: RouteParameters): EngineParameters {
  return {
    ...endOf('start', route.origin),
    ...endOf('end', route.destination),
    travel_mode: travelModes[route.mode],
    ...(route.avoid.length === 0 ? {} : { avoid: route.avoid.join(',') }),
    ...timeOf(route),
  };
}

/** Coordinates have a parameter of their own. */
function endOf(end: 'start' | 'end', place: string): EngineParameters {
  const point = /^\s*(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*$/.exec(place);
  return point === null
    ? { [`${end}_addr`]: queryOf(place) }
    : { [`${end}_coords`]: `${point[1]},${point[2]}` };
}

function timeOf({ departAt, arriveBy }: RouteParameters): EngineParameters {
  if (departAt !== null) return { time: `depart_at:${departAt}` };
  return arriveBy === null ? {} : { time: `arrive_by:${arriveBy}` };
}
