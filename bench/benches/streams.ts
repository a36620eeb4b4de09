// The streams that the relay benches run, paced as models write and at full speed, and how much
// more their relay may cost than bare forwarding.
import type { LoadJob, Target } from '../load/job.ts';
import type { Bar, Report } from '../report.ts';

export const PACED_STREAMS = 250;
export const PACED_GAP_MS = 20;
export const FULL_STREAMS = 32;
export const FULL_TOKENS = 200;

/** The most of our CPU, over theirs: an event of a paced stream, a request at full speed. */
export const RELAY_LIMITS = { pacedNginx: 2.2, pacedBare: 1.3, fullBare: 1.6 };

/** What an event may cost, if one costs nginx and the bare server this much. */
export function pacedLimit({ nginx, bare }: { nginx: number; bare: number }): number {
  return Math.min(RELAY_LIMITS.pacedNginx * nginx, RELAY_LIMITS.pacedBare * bare);
}

/** The simulator's orders for streams of either kind. */
export const pacedOrders = (tokens: number) => `tokens=${tokens} gap_ms=${PACED_GAP_MS}`;
export const fullOrders = `tokens=${FULL_TOKENS}`;

/** Paced streams: each of them once, all at the same time, begun within `spreadMs`. */
export function pacedJob(
  target: Target,
  { eventsMin, spreadMs, seed }: Pick<LoadJob, 'eventsMin' | 'spreadMs' | 'seed'>,
): LoadJob {
  const streams = { connections: PACED_STREAMS, requestsMax: PACED_STREAMS };
  return { kind: 'load', target, ...streams, durationMs: null, spreadMs, eventsMin, seed };
}

/** Streams at full speed: events leave the simulator as fast as the contender takes them. */
export function fullJob(
  target: Target,
  { eventsMin, durationMs, seed }: Pick<LoadJob, 'eventsMin' | 'durationMs' | 'seed'>,
): LoadJob {
  const streams = { connections: FULL_STREAMS, requestsMax: null };
  return { kind: 'load', target, ...streams, durationMs, spreadMs: 20, eventsMin, seed };
}

/** At most `limit` times as much as the other. */
export function timesBar(text: string, limit: number, value: number, base: number): Bar {
  return { text, limit, measured: value / base, unit: '×', sense: 'most' };
}

/** One row a contender, the gateway's with their limits where those are known. */
export function chartRows(
  values: Iterable<readonly [name: string, value: number]>,
  limitOf: (name: string) => number,
): Report['chart']['rows'] {
  return Array.from(values, ([label, value]) => {
    const limit = label.startsWith('gateway') ? limitOf(label) : Number.NaN;
    return { label, value, ...(Number.isFinite(limit) ? { limit } : {}) };
  });
}
