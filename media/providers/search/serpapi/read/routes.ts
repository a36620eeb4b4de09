// Directions: each has trips, one for every change of vehicle, whose details are its turns.
import type { Reading, RouteParameters, SearchAsk } from '../../../../search/contract.ts';
import { isMembers, type Members } from '../../../../transport/members.ts';
import { entriesOf } from '../../reading.ts';

export function readRoutes(body: Members, { parameters }: SearchAsk): Reading[] {
  const { routes } = parameters;
  return entriesOf(body.directions).map((direction) => ({
    title: titleOf(routes, direction.via),
    ...measuresOf(direction),
    mode: modeOf(direction.travel_mode) ?? routes?.mode,
    departsAt: direction.start_time,
    arrivesAt: direction.end_time,
    legs: entriesOf(direction.trips).flatMap(legsOf),
  }));
}

/** Ways between the same ends differ by what they lead along. */
function titleOf(routes: RouteParameters | null, via: unknown): string | undefined {
  if (typeof via !== 'string' || via.trim() === '') return undefined;
  return routes === null ? via : `${routes.origin} – ${routes.destination}, ${via}`;
}

/** Numbers are meters and seconds; texts stand in for those that are missing. */
function measuresOf(part: Members): Pick<Reading, 'distanceMeters' | 'durationSeconds'> {
  return {
    distanceMeters: part.distance ?? part.formatted_distance,
    durationSeconds: part.duration ?? part.formatted_duration,
  };
}

function legsOf(trip: Members): object[] {
  const details: unknown[] = Array.isArray(trip.details) ? trip.details : [];
  const legs = details.flatMap((detail): object[] => {
    if (isMembers(detail)) return [legOf(detail)];
    return typeof detail === 'string' ? [{ instruction: detail }] : [];
  });
  return legs.length > 0 ? legs : [legOf(trip)];
}

function legOf(part: Members): object {
  return { instruction: part.title ?? part.action, ...measuresOf(part) };
}

const modes = [
  [/driv|car|two-wheeler/i, 'driving'],
  [/transit|train|bus|metro|subway|tram|rail|ferry/i, 'transit'],
  [/walk|foot/i, 'walking'],
  [/cycl|bike/i, 'cycling'],
] as const;

function modeOf(mode: unknown): string | undefined {
  return typeof mode === 'string' ? modes.find(([words]) => words.test(mode))?.[1] : undefined;
}
