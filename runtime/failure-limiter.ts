// How often an address may show credentials that are nobody's, over all shards. A count-min sketch
// of arrival times: what it knows of all addresses together is bounded, so a flood of addresses
// makes it stricter towards other failures, and towards nobody whose credential is known.
import { hash, randomBytes } from 'node:crypto';
import type { RateState } from './limiter.ts';

const rows = 4;
const cellsPerRow = 8_192;
const seedBytes = 16;
const burstNs = 60e9;
/** No arrival lies so far ahead of its own time: the clock has been set back since. */
const aheadNsMax = 2 * burstNs;

export interface FailureBuffers {
  /** 256 KiB. */
  shared: SharedArrayBuffer;
  /** Nobody knows whose cells an address shares. */
  seed: Uint8Array;
  epochMs: number;
}

/** The table that all threads share; made once, by the main thread. */
export function createFailureBuffers(nowMs: number): FailureBuffers {
  const shared = new SharedArrayBuffer(rows * cellsPerRow * 8);
  return { shared, seed: randomBytes(seedBytes), epochMs: nowMs };
}

/** What an address that failed too often is told. */
export interface FailureRefusal {
  state: RateState;
  retryAfterSeconds: number;
}

export class FailureLimiter {
  readonly #arrivals: BigInt64Array;
  readonly #seed: Uint8Array;
  readonly #epochMs: number;
  readonly #limit: number;

  constructor(buffers: FailureBuffers, limitPerMinute: number) {
    this.#arrivals = new BigInt64Array(buffers.shared);
    this.#seed = buffers.seed;
    this.#epochMs = buffers.epochMs;
    this.#limit = limitPerMinute;
  }

  /**
   * Counts one failure; null: as many as these are allowed. By the cell algorithm of Limiter, but
   * two threads that count in the same moment may count one.
   */
  take(network: string, nowMs: number): FailureRefusal | null {
    const intervalNs = burstNs / this.#limit;
    const nowNs = Math.round((nowMs - this.#epochMs) * 1e6);
    const cells = this.#cellsOf(network);
    // The row in which nobody else failed knows best.
    const seen = Math.min(...cells.map((cell) => Number(Atomics.load(this.#arrivals, cell))));
    const arrivalNs = seen > nowNs + aheadNsMax ? nowNs : Math.max(nowNs, seen);
    const nextNs = arrivalNs + intervalNs;
    const waitNs = nextNs - nowNs - burstNs;
    if (waitNs > intervalNs / 2) {
      const resetSeconds = Math.ceil((arrivalNs - nowNs) / 1e9);
      const state = { limit: this.#limit, remaining: 0, resetSeconds };
      return { state, retryAfterSeconds: Math.max(1, Math.ceil(waitNs / 1e9)) };
    }
    for (const cell of cells) this.#raise(cell, BigInt(Math.round(nextNs)));
    return null;
  }

  #cellsOf(network: string): number[] {
    const digest = hash('sha256', Buffer.concat([this.#seed, Buffer.from(network)]), 'buffer');
    return Array.from(
      { length: rows },
      (_, row) => row * cellsPerRow + (digest.readUInt32LE(4 * row) % cellsPerRow),
    );
  }

  /** Never down: another address that shares the cell may have failed more often. */
  #raise(cell: number, arrival: bigint): void {
    for (;;) {
      const seen = Atomics.load(this.#arrivals, cell);
      if (seen >= arrival && Number(seen - arrival) <= aheadNsMax) return;
      if (Atomics.compareExchange(this.#arrivals, cell, seen, arrival) === seen) return;
    }
  }
}
