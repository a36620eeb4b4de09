// How much was done for a key for nothing in the last minute, and how much it has paid for. Shared
// memory has both over all shards, in steps of ten seconds, at the place of the limiter's slot.
import { type Limiter, limiterSlotCount } from '../limiter.ts';

const stepMs = 10_000;
/** The running step and the six before it: a minute is never looked at for less than it was. */
const stepCount = 7;
/** Ten times of what a key pays for may be given away beside it. */
const paidFactor = 10;
const countBits = 32n;
const countMax = 2 ** 32 - 1;

export interface GiveawayBuffers {
  /** 7.6 MB, touched as used: 116 bytes a key. */
  shared: SharedArrayBuffer;
  epochMs: number;
}

/** The table that all threads share; made once, by the main thread. */
export function createGiveawayBuffers(nowMs: number): GiveawayBuffers {
  const bytes = limiterSlotCount * (2 * stepCount * 8 + 4);
  return { shared: new SharedArrayBuffer(bytes), epochMs: nowMs };
}

export class GiveawayLimiter {
  /** Each slot has two cells a step, given and paid: the step's number, and the amount. */
  readonly #cells: BigUint64Array;
  /** Each slot has the last step in which anything was given away. */
  readonly #last: Int32Array;
  readonly #epochMs: number;
  readonly #limiter: Pick<Limiter, 'slotOf'>;
  readonly #amountMax: number;

  /** A key may be given `amountMax` in a minute, whatever it pays for. */
  constructor(buffers: GiveawayBuffers, limiter: Pick<Limiter, 'slotOf'>, amountMax: number) {
    const cellCount = limiterSlotCount * 2 * stepCount;
    this.#cells = new BigUint64Array(buffers.shared, 0, cellCount);
    this.#last = new Int32Array(buffers.shared, cellCount * 8, limiterSlotCount);
    this.#epochMs = buffers.epochMs;
    this.#limiter = limiter;
    this.#amountMax = amountMax;
  }

  gave(keyId: string, amount: number, nowMs: number): void {
    const slot = this.#limiter.slotOf(keyId, nowMs);
    const step = this.#stepAt(nowMs);
    this.#add(cellOf(slot, step), step, amount);
    Atomics.store(this.#last, slot, step);
  }

  paid(keyId: string, amount: number, nowMs: number): void {
    const step = this.#stepAt(nowMs);
    this.#add(cellOf(this.#limiter.slotOf(keyId, nowMs), step) + 1, step, amount);
  }

  /** Seconds until the key may ask for more; null: it may now. */
  retryAfterSeconds(keyId: string, nowMs: number): number | null {
    const slot = this.#limiter.slotOf(keyId, nowMs);
    const step = this.#stepAt(nowMs);
    const age = step - Atomics.load(this.#last, slot);
    // Most keys give nothing away. A step ahead of now is of a clock that has been set back.
    if (age < 0 || age >= stepCount) return null;
    const steps = this.#stepsOf(slot, step);
    let given = steps.reduce((sum, each) => sum + each.given, 0);
    let paid = steps.reduce((sum, each) => sum + each.paid, 0);
    let waitMs = 0;
    // The oldest leaves first.
    for (const each of steps) {
      if (given <= this.#amountMax || given <= paidFactor * paid) break;
      given -= each.given;
      paid -= each.paid;
      waitMs = this.#epochMs + each.number * stepMs - nowMs;
    }
    return waitMs === 0 ? null : Math.max(1, Math.ceil(waitMs / 1_000));
  }

  /** Numbers begin at `stepCount`, so that a cell nobody has written is of no step. */
  #stepAt(nowMs: number): number {
    return stepCount + Math.max(0, Math.floor((nowMs - this.#epochMs) / stepMs));
  }

  /** The steps of the last minute, the oldest first. One leaves `number` steps after the epoch. */
  #stepsOf(slot: number, now: number): { number: number; given: number; paid: number }[] {
    const steps = [];
    for (let number = now - stepCount + 1; number <= now; number += 1) {
      const index = cellOf(slot, number);
      const given = amountOf(Atomics.load(this.#cells, index), number);
      const paid = amountOf(Atomics.load(this.#cells, index + 1), number);
      steps.push({ number, given, paid });
    }
    return steps;
  }

  #add(index: number, step: number, amount: number): void {
    for (;;) {
      const seen = Atomics.load(this.#cells, index);
      const sum = Math.min(countMax, amountOf(seen, step) + Math.ceil(amount));
      const next = (BigInt(step) << countBits) | BigInt(sum);
      if (Atomics.compareExchange(this.#cells, index, seen, next) === seen) return;
    }
  }
}

function cellOf(slot: number, step: number): number {
  return 2 * (slot * stepCount + (step % stepCount));
}

/** The amount of this step: the cell may still have that of an older one. */
function amountOf(cell: bigint, step: number): number {
  return Number(cell >> countBits) === step ? Number(cell & BigInt(countMax)) : 0;
}
