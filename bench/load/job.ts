// What a load generator process is asked to do and what it answers: plain data over the IPC channel
// of a forked process.

/** Where a request goes and what makes it that contender's request. */
export interface Target {
  host: string;
  port: number;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Requests on a fixed number of connections, until the quota or the time is used up. */
export interface LoadJob {
  kind: 'load';
  target: Target;
  connections: number;
  /** Requests in all; null: until `durationMs`, then those under way are finished. */
  requestsMax: number | null;
  durationMs: number | null;
  /** The first requests are spread at random over this time, so that paced streams interleave. */
  spreadMs: number;
  /** A response with fewer SSE events has failed. */
  eventsMin: number;
  seed: number;
  /** The time between two reads of each stream is measured, too. */
  gaps?: boolean;
}

/** Streams that are opened, seen to have begun, and left open until `release`. */
export interface HoldJob {
  kind: 'hold';
  target: Target;
  connections: number;
  /** Streams that may be waiting for their first event at the same time. */
  openingMax: number;
}

/**
 * One request after the other, each target in turn: paired samples of time to first event.
 * `{sample}` in a body is the number of the sample, counted from the first of the warm-up.
 */
export interface ProbeJob {
  kind: 'probe';
  targets: Target[];
  samples: number;
  warmupSamples: number;
}

export type Job = LoadJob | HoldJob | ProbeJob | { kind: 'release' };

export interface LoadResult {
  requests: number;
  failed: number;
  /** The first failure, in words; empty when there is none. */
  failure: string;
  events: number;
  elapsedMs: number;
  /** Percentiles over all requests, in milliseconds. */
  totalMs: { p50: number; p99: number };
  firstEventMs: { p50: number; p99: number };
  /** Between two reads; not a number where nobody asked for it. */
  gapMs: { p50: number; p99: number };
  /** CPU of the generator itself: shows that it was not the bottleneck. */
  generatorCpuMicros: number;
}

export interface HoldResult {
  opened: number;
  failed: number;
  failure: string;
}

export interface ProbeResult {
  /** Per target, in the order of the samples. */
  firstEventMs: number[][];
  failed: number;
  failure: string;
}

export type JobReply =
  | { ok: true; result: LoadResult | HoldResult | ProbeResult }
  | { ok: false; error: string };
