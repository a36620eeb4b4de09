// What all sessions of a voice generator measure together, forgotten when a measurement begins; and
// the drift of one answer, which each session follows by itself.
import { percentile } from '../statistics.ts';
import type { Percentiles } from './voice-job.ts';
import { OUTPUT_BYTES_MS } from './voice-wire.ts';

export interface VoiceRecord {
  framesSent: number;
  outputMessages: number;
  outputBytes: number;
  lost: number;
  renewed: number;
  failure: string;
  downMs: number[];
  bargeMs: number[];
  lateMs: number[];
  driftMs: number[];
}

export function emptyRecord(): VoiceRecord {
  return {
    framesSent: 0,
    outputMessages: 0,
    outputBytes: 0,
    lost: 0,
    renewed: 0,
    failure: '',
    downMs: [],
    bargeMs: [],
    lateMs: [],
    driftMs: [],
  };
}

export function percentilesOf(values: readonly number[]): Percentiles {
  return {
    count: values.length,
    p50: percentile(values, 0.5),
    p99: percentile(values, 0.99),
    max: percentile(values, 1),
  };
}

/** Silence this long ends an answer. */
const GAP_MS = 1_000;
const WINDOW_MS = 5_000;

/**
 * How far an answer's audio is ahead of the clock, at most, in windows of five seconds: paced
 * output keeps that. A message that a busy machine delays is behind, and hides no drift. The first
 * window is the filling of the lead and does not count.
 */
export class DriftMeter {
  #startedMs = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  #audioMs = 0;
  #windows: { aheadMs: number; count: number }[] = [];

  /** Takes one message; gives the drift of the answer that it follows, if that can be told. */
  take(nowMs: number, bytes: number): number | null {
    const ended = nowMs - this.#lastMs > GAP_MS ? this.#drift() : null;
    if (nowMs - this.#lastMs > GAP_MS) {
      this.#startedMs = nowMs;
      this.#audioMs = 0;
      this.#windows = [];
    }
    this.#lastMs = nowMs;
    this.#audioMs += bytes / OUTPUT_BYTES_MS;
    const elapsedMs = nowMs - this.#startedMs;
    const index = Math.floor(elapsedMs / WINDOW_MS);
    const window = this.#windows[index] ?? { aheadMs: 0, count: 0 };
    this.#windows[index] = window;
    window.aheadMs = Math.max(window.aheadMs, this.#audioMs - elapsedMs);
    window.count += 1;
    return ended;
  }

  #drift(): number | null {
    const [, first, ...others] = this.#windows;
    if (first === undefined) return null;
    const last = others.findLast((window) => window.count > 0.8 * first.count);
    if (last === undefined) return null;
    return last.aheadMs - first.aheadMs;
  }
}
