// How many answers a name has had in the last hour, paid and unpaid ones. Shared memory has both
// over all threads, in steps of five minutes, so that the tally is one and exact.
import { hash } from 'node:crypto';

const stepMs = 5 * 60_000;
/** The running step and the twelve before it: an hour is never looked at for less than it was. */
const stepCount = 13;
/** A name is the first word of its row. */
const rowWords = 1 + stepCount;
const rowCount = 32_768;
const probesMax = 64;
/** A cell has the number of its step, then both counts, of 22 bits each. */
const countBits = 22n;
const countMask = (1n << countBits) - 1n;
const stepMask = (1n << 20n) - 1n;

export interface AnswerBuffers {
  /** 3.7 MB, touched as used: 112 bytes a name. */
  shared: SharedArrayBuffer;
  epochMs: number;
}

/** The table that all threads share; made once, by the main thread. */
export function createAnswerBuffers(nowMs: number): AnswerBuffers {
  return { shared: new SharedArrayBuffer(rowCount * rowWords * 8), epochMs: nowMs };
}

interface Counts {
  paid: number;
  unpaid: number;
}

export class AnswerTally {
  readonly #cells: BigUint64Array;
  readonly #epochMs: number;
  readonly #unpaidMax: number;

  /** A name may have `unpaidMax` unpaid answers in an hour, whatever else it has. */
  constructor({ shared, epochMs }: AnswerBuffers, unpaidMax: number) {
    this.#cells = new BigUint64Array(shared);
    this.#epochMs = epochMs;
    this.#unpaidMax = unpaidMax;
  }

  count(name: string, kind: 'paid' | 'unpaid', nowMs: number): void {
    const step = this.#stepAt(nowMs);
    const row = this.#rowOf(name, step);
    if (row === null) return;
    const index = row + 1 + (step % stepCount);
    for (;;) {
      const seen = Atomics.load(this.#cells, index);
      const counts = countsOf(seen, step);
      counts[kind] += 1;
      if (Atomics.compareExchange(this.#cells, index, seen, cellOf(counts, step)) === seen) return;
    }
  }

  /**
   * Seconds until the name may ask again; null: it may now. It may not while it has more unpaid
   * answers than it may have, and they are more than half of all.
   */
  retryAfterSeconds(name: string, nowMs: number): number | null {
    const row = this.#findOwn(keyOf(name));
    if (row === null) return null;
    const now = this.#stepAt(nowMs);
    const steps = Array.from({ length: stepCount }, (_, age) => now - stepCount + 1 + age);
    const each = steps.map((step) => this.#countsAt(row, step));
    let paid = each.reduce((sum, counts) => sum + counts.paid, 0);
    let unpaid = each.reduce((sum, counts) => sum + counts.unpaid, 0);
    let waitMs = 0;
    // The oldest leaves first.
    for (const [age, counts] of each.entries()) {
      if (unpaid <= this.#unpaidMax || unpaid <= paid) break;
      paid -= counts.paid;
      unpaid -= counts.unpaid;
      waitMs = this.#epochMs + (steps[age] ?? 0) * stepMs - nowMs;
    }
    return waitMs === 0 ? null : Math.max(1, Math.ceil(waitMs / 1_000));
  }

  /** Numbers begin at `stepCount`, so that a cell nobody has written is of no step. */
  #stepAt(nowMs: number): number {
    return stepCount + Math.max(0, Math.floor((nowMs - this.#epochMs) / stepMs));
  }

  #countsAt(row: number, step: number): Counts {
    return countsOf(Atomics.load(this.#cells, row + 1 + (step % stepCount)), step);
  }

  #findOwn(key: bigint): number | null {
    for (let probe = 0; probe < probesMax; probe += 1) {
      const row = rowAt(key, probe);
      const owner = Atomics.load(this.#cells, row);
      if (owner === key) return row;
      // A row that had an owner always has one: nothing stands behind the first that never had.
      if (owner === 0n) return null;
    }
    return null;
  }

  /** Null: all its places are those of others. Then it is not counted, and not refused. */
  #rowOf(name: string, step: number): number | null {
    const key = keyOf(name);
    const own = this.#findOwn(key);
    if (own !== null) return own;
    for (let probe = 0; probe < probesMax; probe += 1) {
      const row = rowAt(key, probe);
      const owner = Atomics.load(this.#cells, row);
      // Another thread counted the name for the first time in the same moment, and was quicker.
      if (owner === key) return row;
      if (owner !== 0n && !this.#isForgotten(row, step)) continue;
      const found = Atomics.compareExchange(this.#cells, row, owner, key);
      if (found === owner || found === key) return row;
    }
    return null;
  }

  /** Nothing of the last hour stands in it: it says what no row would say. */
  #isForgotten(row: number, now: number): boolean {
    for (let age = 0; age < stepCount; age += 1) {
      const { paid, unpaid } = this.#countsAt(row, now - age);
      if (paid > 0 || unpaid > 0) return false;
    }
    return true;
  }
}

function rowAt(key: bigint, probe: number): number {
  return ((Number(key & 0xffff_ffffn) + probe) % rowCount) * rowWords;
}

/** Never 0, which marks a free row. */
function keyOf(name: string): bigint {
  return hash('sha256', name, 'buffer').readBigUInt64LE(0) || 1n;
}

/** The counts of this step: the cell may still have those of an older one. */
function countsOf(cell: bigint, step: number): Counts {
  if (cell >> (2n * countBits) !== (BigInt(step) & stepMask)) return { paid: 0, unpaid: 0 };
  return {
    paid: Number((cell >> countBits) & countMask),
    unpaid: Number(cell & countMask),
  };
}

function cellOf({ paid, unpaid }: Counts, step: number): bigint {
  return (
    ((BigInt(step) & stepMask) << (2n * countBits)) | (limited(paid) << countBits) | limited(unpaid)
  );
}

function limited(count: number): bigint {
  const wide = BigInt(count);
  return wide > countMask ? countMask : wide;
}
