// The key of a search: equal ones have equal answers, and no other caller may be given them. It is
// a digest, so that no query stands where keys do.
import { createHash } from 'node:crypto';
import type { SearchOrder } from './contract.ts';
import { searchLimits } from './limits.ts';

export function keyOf({ surface, ask, accountId, answer }: SearchOrder): string {
  const parts = [
    surface.isShared ? null : accountId,
    surface.name,
    surface.version,
    surface.targets.map(({ upstream }) => upstream.routeId),
    ask,
    answer,
  ];
  return createHash('sha256').update(JSON.stringify(parts, sorted)).digest('hex');
}

/** The place that a key belongs to: places have as many keys each. */
export function placeOf(key: string): string {
  return String(Number.parseInt(key.slice(0, 4), 16) % searchLimits.placeCount);
}

/** Members and sets in one order, whatever order a caller has sent them in. */
function sorted(_name: string, value: unknown): unknown {
  if (value instanceof Set) return [...value].sort();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}
