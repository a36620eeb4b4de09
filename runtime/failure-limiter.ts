// How often a name may fail, or ask, under a rule, over all shards. A name is an address, a network
// or whatever attempts are counted by. What is known of all names is bounded: a flood of them makes
// a rule stricter towards other failures, and towards nobody who has none.
import { strict as assert } from 'node:assert';
import { hash, randomBytes } from 'node:crypto';
import type { RateState } from './limiter.ts';

const dayMs = 86_400_000;
const rows = 4;
/**
 * A rule has a count-min sketch of arrival times, four rows of 65,536 cells. Only the cells that
 * know the least of a name are raised. So 1,000,000 names that fail once in a period look like 6 to
 * 8 failures of anybody else. They lock nobody out where 9 are allowed. Nor is a larger flood
 * waited out: each name has one more try after each interval, not after the period.
 */
const cellsPerRow = 65_536;
const cellsPerRule = rows * cellsPerRow;
/**
 * Rules share no cells. One failure under a rule of 50 a day holds a cell for half an hour, which
 * refuses whoever is counted in it by the minute. A rule has 2 MiB, touched as used.
 */
const rulesMax = 24;
const headerBytes = 8 * rulesMax;
const seedBytes = 16;

/** A constant: one name has one limit and one period in all threads. */
export interface FailureRule {
  /** Names are counted apart from those of every other rule. */
  name: string;
  /** So many at once, then one each `periodMs / limit`: in no period more than twice as many. */
  limit: number;
  /** At most a day. */
  periodMs: number;
}

export interface FailureBuffers {
  /** 48 MiB of addresses; memory only where a rule was used. */
  shared: SharedArrayBuffer;
  /** Nobody knows whose cells a name shares. */
  seed: Uint8Array;
  /** Before everything, so that an untouched cell lies in the past of a clock that is set back. */
  epochMs: number;
}

/** The table that all threads share; made once, by the main thread. */
export function createFailureBuffers(nowMs: number): FailureBuffers {
  const shared = new SharedArrayBuffer(headerBytes + rulesMax * cellsPerRule * 8);
  return { shared, seed: randomBytes(seedBytes), epochMs: nowMs - 4 * dayMs };
}

/** What a name that failed too often is told. */
export interface FailureRefusal {
  state: RateState;
  retryAfterSeconds: number;
}

/** A rule in whole microseconds, so that its arithmetic is exact. */
interface Table {
  rule: FailureRule;
  firstCell: number;
  intervalUs: number;
  burstUs: number;
  /** No arrival lies so far ahead of its own time: the clock has been set back since. */
  aheadUsMax: number;
}

interface Look {
  refusal: FailureRefusal | null;
  cells: readonly number[];
  /** Where the cells stand once this failure is counted. */
  nextUs: number;
}

export class FailureLimiter {
  /** Which rule has which part of the table: the first thread that needs one takes it for all. */
  readonly #owners: BigInt64Array;
  readonly #arrivals: BigInt64Array;
  readonly #seed: Uint8Array;
  readonly #epochMs: number;
  readonly #tables = new Map<string, Table>();

  constructor({ shared, seed, epochMs }: FailureBuffers) {
    this.#owners = new BigInt64Array(shared, 0, rulesMax);
    this.#arrivals = new BigInt64Array(shared, headerBytes);
    this.#seed = seed;
    this.#epochMs = epochMs;
  }

  /**
   * Counts one failure; null: as many as these are allowed. By the cell algorithm of Limiter, but
   * two threads that count in the same moment may count one. What is refused is not counted.
   */
  take(rule: FailureRule, name: string, nowMs: number): FailureRefusal | null {
    const table = this.#tableOf(rule);
    const { refusal, cells, nextUs } = this.#look(table, name, nowMs);
    if (refusal !== null) return refusal;
    for (const cell of cells) this.#raise(cell, nextUs, table.aheadUsMax);
    return null;
  }

  /** What `take` would answer; nothing is counted. */
  peek(rule: FailureRule, name: string, nowMs: number): FailureRefusal | null {
    return this.#look(this.#tableOf(rule), name, nowMs).refusal;
  }

  /**
   * Takes back one failure that was none after all. Lowers only what this name raised last: a cell
   * that somebody else has raised since is left as it is.
   */
  forgive(rule: FailureRule, name: string): void {
    const table = this.#tableOf(rule);
    const cells = this.#cellsOf(table, name);
    const interval = BigInt(table.intervalUs);
    const arrivals = cells.map((cell) => Atomics.load(this.#arrivals, cell));
    const [last = 0n] = arrivals.sort((one, other) => Number(one - other));
    for (const cell of cells) {
      Atomics.compareExchange(this.#arrivals, cell, last, last - interval);
    }
  }

  #look(table: Table, name: string, nowMs: number): Look {
    const { rule, intervalUs, burstUs, aheadUsMax } = table;
    const nowUs = Math.round((nowMs - this.#epochMs) * 1_000);
    const cells = this.#cellsOf(table, name);
    // The row in which nobody else failed knows best.
    const seenUs = Math.min(...cells.map((cell) => Number(Atomics.load(this.#arrivals, cell))));
    const arrivalUs = seenUs > nowUs + aheadUsMax ? nowUs : Math.max(nowUs, seenUs);
    const nextUs = arrivalUs + intervalUs;
    const waitUs = nextUs - nowUs - burstUs;
    if (waitUs <= 0) return { refusal: null, cells, nextUs };
    const resetSeconds = Math.ceil((arrivalUs - nowUs) / 1e6);
    const state = { limit: rule.limit, remaining: 0, resetSeconds };
    return { refusal: { state, retryAfterSeconds: Math.ceil(waitUs / 1e6) }, cells, nextUs };
  }

  #tableOf(rule: FailureRule): Table {
    const known = this.#tables.get(rule.name);
    if (known !== undefined) {
      const isSame = known.rule.limit === rule.limit && known.rule.periodMs === rule.periodMs;
      assert(isSame, `two rules have the name ${rule.name}`);
      return known;
    }
    const { limit, periodMs } = rule;
    const intervalUs = Math.floor((periodMs * 1_000) / limit);
    const isPossible = Number.isInteger(limit) && limit > 0 && periodMs <= dayMs && intervalUs > 0;
    assert(isPossible, `the rule ${rule.name} cannot be kept`);
    const firstCell = this.#claim(rule.name) * cellsPerRule;
    const times = { intervalUs, burstUs: limit * intervalUs, aheadUsMax: 2_000 * periodMs };
    const table = { rule: { ...rule }, firstCell, ...times };
    this.#tables.set(rule.name, table);
    return table;
  }

  #claim(name: string): number {
    const id = hash('sha256', name, 'buffer').readBigInt64LE(0) || 1n;
    for (let index = 0; index < rulesMax; index += 1) {
      const owner = Atomics.compareExchange(this.#owners, index, 0n, id);
      if (owner === 0n || owner === id) return index;
    }
    throw new Error(`more than ${rulesMax} rules of failures`);
  }

  #cellsOf({ firstCell }: Table, name: string): number[] {
    const digest = hash('sha256', Buffer.concat([this.#seed, Buffer.from(name)]), 'buffer');
    return Array.from(
      { length: rows },
      (_, row) => firstCell + row * cellsPerRow + (digest.readUInt32LE(4 * row) % cellsPerRow),
    );
  }

  /** Never down: another name that shares the cell may have failed more often. */
  #raise(cell: number, arrivalUs: number, aheadUsMax: number): void {
    const arrival = BigInt(arrivalUs);
    for (;;) {
      const seen = Atomics.load(this.#arrivals, cell);
      if (seen >= arrival && Number(seen - arrival) <= aheadUsMax) return;
      if (Atomics.compareExchange(this.#arrivals, cell, seen, arrival) === seen) return;
    }
  }
}
