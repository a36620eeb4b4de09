// How long routes took lately for a whole video, as this shard saw it.

export interface Durations {
  add(routeId: string, durationMs: number): void;
  /** Null: nobody has timed one. */
  medianMs(routeId: string): number | null;
}

/** Remembers the last `kept` of each route. */
export function createDurations(kept: number): Durations {
  const byRoute = new Map<string, number[]>();
  return {
    add(routeId, durationMs) {
      const known = byRoute.get(routeId) ?? [];
      byRoute.set(routeId, [...known.slice(1 - kept), durationMs]);
    },
    medianMs(routeId) {
      const sorted = [...(byRoute.get(routeId) ?? [])].sort((a, b) => a - b);
      return sorted[Math.floor(sorted.length / 2)] ?? null;
    },
  };
}
