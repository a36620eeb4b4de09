// The key of a search: equal ones have equal answers, and no other caller may be given them. It is
// a digest, so that no query stands where keys do.
import { hash } from 'node:crypto';
import type { SearchOrder } from './contract.ts';
import { searchLimits } from './limits.ts';

export function keyOf({ surface, ask, accountId, answer, isPaidLater }: SearchOrder): string {
  const { name, version, targets, isShared } = surface;
  const { surface: served, query, parameters, extra } = ask;
  // What is kept for everybody costs its price, whoever it was asked for.
  const isApart = isPaidLater === true && !isShared;
  const place = [isShared ? '' : accountId, name, version, served, isApart];
  const routes = targets.map(({ upstream }) => upstream.routeId);
  // A caller's own members come in any order; ours have one.
  const parts = [place, routes, query, parameters, Object.entries(extra).sort(byName)];
  const written = answer === null ? '' : JSON.stringify(answer, sorted);
  return hash('sha256', JSON.stringify(parts) + written);
}

function byName([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : 1;
}

/** The place that a key belongs to: places have as many keys each. */
export function placeOf(key: string): string {
  return String(Number.parseInt(key.slice(0, 4), 16) % searchLimits.placeCount);
}

/** Rules have sets, which JSON has none of. */
function sorted(_name: string, value: unknown): unknown {
  return value instanceof Set ? [...value].sort() : value;
}
