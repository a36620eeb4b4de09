// Rate and concurrency limits that are exact over all shards of the process: one shared table,
// changed with atomics, no message sent. A library's in-memory limiter counts per thread.
// Rate: generic cell rate algorithm (ITU-T I.371) with a burst of one full minute.
import { strict as assert } from 'node:assert';

/** A full minute's allowance at once. */
const burstNs = 60e9;
/** No arrival lies so far ahead of its own time: the clock has been set back since. */
const aheadNsMax = 2 * burstNs;
export const limiterSlotCount = 65_536;
const slotCount = limiterSlotCount;
const probesMax = 64;
/** A slot found now counts as used for at least half of this, longer than anybody keeps it. */
const staleMs = 120_000;
/** Per slot: the theoretical arrival time in nanoseconds since `epochMs`. */
const arrivalBytes = slotCount * 8;
/** Per slot: the hash that owns it (0: free), how many are open in all, and how many detached. */
const wordsPerSlot = 3;
const wordBytes = slotCount * wordsPerSlot * 4;
/** Detached requests of the process: all, and those that stand in the way of others. */
const headerBytes = 8;

export interface LimiterBuffers {
  shared: SharedArrayBuffer;
  epochMs: number;
  /** From 0, the main thread, on. */
  nodeCount: number;
  /** Requests of the process that may run on without their client. */
  detachedMax: number;
}

export interface RateState {
  limit: number;
  remaining: number;
  /** Seconds until the full limit is available again. */
  resetSeconds: number;
}

export type RateDecision =
  | { allowed: true; state: RateState }
  | {
      allowed: false;
      state: RateState;
      retryAfterSeconds: number;
    };

/** Whether one more request may run on without its client, or who has too many that do. */
export type DetachedRoom = 'free' | 'account' | 'process';

/**
 * The table that all threads share; made once, by the main thread. It has 1.3 MB and 256 KiB a
 * node, touched as used. How many of a slot's open and detached ones are a node's own stands there,
 * to take them back when it dies.
 */
export function createLimiterBuffers(
  nowMs: number,
  shardCount: number,
  detachedMax: number,
): LimiterBuffers {
  const nodeCount = shardCount + 1;
  const tallyBytes = slotCount * nodeCount * 2;
  const shared = new SharedArrayBuffer(headerBytes + arrivalBytes + wordBytes + 2 * tallyBytes);
  return { shared, epochMs: nowMs, nodeCount, detachedMax };
}

export class Limiter {
  readonly #arrivals: BigInt64Array;
  readonly #words: Int32Array;
  readonly #openTallies: Uint16Array;
  readonly #detachedTallies: Uint16Array;
  readonly #header: Int32Array;
  readonly #epochMs: number;
  readonly #node: number;
  readonly #detachedMax: number;
  /** One account's part. What it has beyond that is in nobody's way but its own. */
  readonly #detachedShare: number;

  constructor(buffers: LimiterBuffers, node: number) {
    const { shared, nodeCount, detachedMax } = buffers;
    assert(node < nodeCount, 'every node has a tally of its own');
    this.#header = new Int32Array(shared, 0, 2);
    this.#arrivals = new BigInt64Array(shared, headerBytes, slotCount);
    const wordOffset = headerBytes + arrivalBytes;
    this.#words = new Int32Array(shared, wordOffset, slotCount * wordsPerSlot);
    const tallyOffset = wordOffset + wordBytes;
    const tallyCount = slotCount * nodeCount;
    this.#openTallies = new Uint16Array(shared, tallyOffset, tallyCount);
    this.#detachedTallies = new Uint16Array(shared, tallyOffset + tallyCount * 2, tallyCount);
    this.#epochMs = buffers.epochMs;
    this.#node = node;
    this.#detachedMax = detachedMax;
    this.#detachedShare = Math.max(1, Math.floor(detachedMax / 2));
  }

  /**
   * The slot of a key, for a minute: keep it with the key's cache entry, since finding it hashes
   * the whole id. One that nobody used for long goes to the next key: it would say nothing anyway.
   */
  slotOf(keyId: string, nowMs: number): number {
    const hash = fnv1a(keyId);
    const start = hash & (slotCount - 1);
    const slot = this.#findOwn(start, hash) ?? this.#claim(start, hash, nowMs);
    // 64 taken neighbours: two keys share a slot. Their limits are then counted together.
    if (slot === null) return start;
    this.#touch(slot, nowMs);
    return slot;
  }

  #findOwn(start: number, hash: number): number | null {
    for (let step = 0; step < probesMax; step += 1) {
      const slot = (start + step) & (slotCount - 1);
      const owner = Atomics.load(this.#words, slot * wordsPerSlot);
      if (owner === hash) return slot;
      // A slot that had an owner always has one: nothing stands behind the first that never had.
      if (owner === 0) return null;
    }
    return null;
  }

  /** Should the old owner come back in this moment, the two share the slot for a minute. */
  #claim(start: number, hash: number, nowMs: number): number | null {
    for (let step = 0; step < probesMax; step += 1) {
      const slot = (start + step) & (slotCount - 1);
      const owner = Atomics.load(this.#words, slot * wordsPerSlot);
      // Another thread saw the key for the first time in the same moment, and was quicker.
      if (owner === hash) return slot;
      if (owner !== 0 && !this.#isStale(slot, nowMs)) continue;
      const found = Atomics.compareExchange(this.#words, slot * wordsPerSlot, owner, hash);
      if (found === owner || found === hash) return slot;
    }
    return null;
  }

  #isStale(slot: number, nowMs: number): boolean {
    if (this.openCount(slot) !== 0 || this.#detachedOf(slot) !== 0) return false;
    return Number(Atomics.load(this.#arrivals, slot)) < (nowMs - staleMs - this.#epochMs) * 1e6;
  }

  /** An arrival in the past allows what none at all allows: it may be moved up to now. */
  #touch(slot: number, nowMs: number): void {
    const seen = Atomics.load(this.#arrivals, slot);
    if (Number(seen) >= (nowMs - staleMs / 2 - this.#epochMs) * 1e6) return;
    const next = BigInt(Math.round((nowMs - this.#epochMs) * 1e6));
    Atomics.compareExchange(this.#arrivals, slot, seen, next);
  }

  /** Takes one request from the minute's allowance, or says when the next one fits. */
  takeRequest(slot: number, limitPerMinute: number, nowMs: number): RateDecision {
    const intervalNs = burstNs / limitPerMinute;
    const nowNs = (nowMs - this.#epochMs) * 1e6;
    for (;;) {
      const seen = Atomics.load(this.#arrivals, slot);
      const aheadNs = Number(seen) - nowNs;
      const arrivalNs = aheadNs > 0 && aheadNs <= aheadNsMax ? Number(seen) : nowNs;
      const nextNs = arrivalNs + intervalNs;
      // Half an interval of slack: the sums are floating point, the limit is a whole number.
      if (nextNs - nowNs > burstNs + intervalNs / 2) {
        const waitNs = nextNs - nowNs - burstNs;
        const state = rateState(limitPerMinute, arrivalNs - nowNs, intervalNs);
        return { allowed: false, state, retryAfterSeconds: Math.max(1, Math.ceil(waitNs / 1e9)) };
      }
      const next = BigInt(Math.round(nextNs));
      if (Atomics.compareExchange(this.#arrivals, slot, seen, next) === seen) {
        return { allowed: true, state: rateState(limitPerMinute, nextNs - nowNs, intervalNs) };
      }
    }
  }

  /** Opens one of `limit` permits, atomically; how many are open then, or null when all are. */
  open(slot: number, limit: number): number | null {
    const open = addBelow(this.#words, slot * wordsPerSlot + 1, limit);
    if (open !== null) this.#tally(this.#openTallies, slot, 1);
    return open;
  }

  close(slot: number): void {
    Atomics.sub(this.#words, slot * wordsPerSlot + 1, 1);
    this.#tally(this.#openTallies, slot, -1);
  }

  openCount(slot: number): number {
    return Atomics.load(this.#words, slot * wordsPerSlot + 1);
  }

  /** Whether a request of this account may begin that may run on without its client. */
  detachedRoom(accountId: string): DetachedRoom {
    const hash = fnv1a(accountId);
    const slot = this.#findOwn(hash & (slotCount - 1), hash);
    if (slot !== null && this.#detachedOf(slot) >= this.#detachedShare) return 'account';
    return Atomics.load(this.#header, 1) < this.#detachedMax ? 'free' : 'process';
  }

  /**
   * Counts one that runs on whoever listens, if there is room for it, in one step: the slot for
   * `removeDetached`, or who has too many.
   */
  openDetached(accountId: string, nowMs: number): { slot: number } | Exclude<DetachedRoom, 'free'> {
    const slot = this.slotOf(accountId, nowMs);
    if (addBelow(this.#header, 1, this.#detachedMax) === null) {
      return this.#detachedOf(slot) >= this.#detachedShare ? 'account' : 'process';
    }
    if (addBelow(this.#words, slot * wordsPerSlot + 2, this.#detachedShare) === null) {
      Atomics.sub(this.#header, 1, 1);
      return 'account';
    }
    Atomics.add(this.#header, 0, 1);
    this.#tally(this.#detachedTallies, slot, 1);
    return { slot };
  }

  /** Counts one whose client has left, room or not; the slot is for `removeDetached`. */
  addDetached(accountId: string, nowMs: number): number {
    const slot = this.slotOf(accountId, nowMs);
    const before = Atomics.add(this.#words, slot * wordsPerSlot + 2, 1);
    if (before < this.#detachedShare) Atomics.add(this.#header, 1, 1);
    Atomics.add(this.#header, 0, 1);
    this.#tally(this.#detachedTallies, slot, 1);
    return slot;
  }

  removeDetached(slot: number): void {
    this.#subDetached(slot, 1);
    this.#tally(this.#detachedTallies, slot, -1);
  }

  /** All of the process. */
  detachedCount(): number {
    return Atomics.load(this.#header, 0);
  }

  #detachedOf(slot: number): number {
    return Atomics.load(this.#words, slot * wordsPerSlot + 2);
  }

  /** The process counts no more of an account than its share, before and afterwards. */
  #subDetached(slot: number, count: number): void {
    const before = Atomics.sub(this.#words, slot * wordsPerSlot + 2, count);
    const share = this.#detachedShare;
    Atomics.sub(this.#header, 1, Math.min(before, share) - Math.min(before - count, share));
    Atomics.sub(this.#header, 0, count);
  }

  /** Gives back what a dead node had open. Called by the main thread when the node is gone. */
  forgetNode(node: number): void {
    const base = node * slotCount;
    for (let slot = 0; slot < slotCount; slot += 1) {
      const open = this.#openTallies[base + slot] ?? 0;
      if (open !== 0) {
        this.#openTallies[base + slot] = 0;
        Atomics.sub(this.#words, slot * wordsPerSlot + 1, open);
      }
      const detached = this.#detachedTallies[base + slot] ?? 0;
      if (detached !== 0) {
        this.#detachedTallies[base + slot] = 0;
        this.#subDetached(slot, detached);
      }
    }
  }

  #tally(tallies: Uint16Array, slot: number, by: 1 | -1): void {
    const index = this.#node * slotCount + slot;
    tallies[index] = (tallies[index] ?? 0) + by;
  }
}

/** Adds one to a word below `limit`, atomically; what it is then, or null. */
function addBelow(words: Int32Array, index: number, limit: number): number | null {
  for (;;) {
    const seen = Atomics.load(words, index);
    if (seen >= limit) return null;
    if (Atomics.compareExchange(words, index, seen, seen + 1) === seen) return seen + 1;
  }
}

function rateState(limit: number, usedNs: number, intervalNs: number): RateState {
  const used = Math.ceil(usedNs / intervalNs - 0.5);
  return {
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.max(0, Math.ceil(usedNs / 1e9)),
  };
}

/** 32-bit FNV-1a, never 0 (0 marks a free slot). */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash === 0 ? 1 : hash | 0;
}
