// Rate and concurrency limits that are exact over all shards of the process: one shared table,
// changed with atomics, no message sent. A library's in-memory limiter counts per thread.
// Rate: generic cell rate algorithm (ITU-T I.371) with a burst of one full minute.
import { strict as assert } from 'node:assert';

/** A full minute's allowance at once. */
const burstNs = 60e9;
/** No arrival lies so far ahead of its own time: the clock has been set back since. */
const aheadNsMax = 2 * burstNs;
const slotCount = 65_536;
const probesMax = 64;
/** A slot found now counts as used for at least half of this, longer than anybody keeps it. */
const staleMs = 120_000;
/** Per slot: the theoretical arrival time in nanoseconds since `epochMs`. */
const arrivalBytes = slotCount * 8;
/** Per slot: the hash that owns it (0: free) and how many are open in all. */
const wordsPerSlot = 2;
const wordBytes = slotCount * wordsPerSlot * 4;

export interface LimiterBuffers {
  shared: SharedArrayBuffer;
  epochMs: number;
  /** From 0, the main thread, on. */
  nodeCount: number;
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

/** Detached generations: the process's count, then each node's own; a multiple of 8. */
function headerBytesOf(nodeCount: number): number {
  return 8 * Math.ceil((1 + nodeCount) / 2);
}

/**
 * The table that all threads share; made once, by the main thread. 1 MB and 128 KiB a node, touched
 * as used: how many of a slot's open ones are a node's own, to take them back when it dies.
 */
export function createLimiterBuffers(nowMs: number, shardCount: number): LimiterBuffers {
  const nodeCount = shardCount + 1;
  const tallyBytes = slotCount * nodeCount * 2;
  const shared = new SharedArrayBuffer(
    headerBytesOf(nodeCount) + arrivalBytes + wordBytes + tallyBytes,
  );
  return { shared, epochMs: nowMs, nodeCount };
}

export class Limiter {
  readonly #arrivals: BigInt64Array;
  readonly #words: Int32Array;
  readonly #tallies: Uint16Array;
  readonly #detached: Int32Array;
  readonly #epochMs: number;
  readonly #node: number;

  constructor(buffers: LimiterBuffers, node: number) {
    const { nodeCount } = buffers;
    assert(node < nodeCount, 'every node has a tally of its own');
    const headerBytes = headerBytesOf(nodeCount);
    this.#detached = new Int32Array(buffers.shared, 0, 1 + nodeCount);
    this.#arrivals = new BigInt64Array(buffers.shared, headerBytes, slotCount);
    this.#words = new Int32Array(buffers.shared, headerBytes + arrivalBytes, slotCount * 2);
    const tallyOffset = headerBytes + arrivalBytes + wordBytes;
    this.#tallies = new Uint16Array(buffers.shared, tallyOffset, slotCount * nodeCount);
    this.#epochMs = buffers.epochMs;
    this.#node = node;
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
    if (this.openCount(slot) !== 0) return false;
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
    const index = slot * wordsPerSlot + 1;
    for (;;) {
      const open = Atomics.load(this.#words, index);
      if (open >= limit) return null;
      if (Atomics.compareExchange(this.#words, index, open, open + 1) === open) {
        this.#countOwn(slot, 1);
        return open + 1;
      }
    }
  }

  close(slot: number): void {
    Atomics.sub(this.#words, slot * wordsPerSlot + 1, 1);
    this.#countOwn(slot, -1);
  }

  openCount(slot: number): number {
    return Atomics.load(this.#words, slot * wordsPerSlot + 1);
  }

  /** Counts one more generation that nobody listens to. */
  addDetached(): void {
    Atomics.add(this.#detached, 0, 1);
    Atomics.add(this.#detached, 1 + this.#node, 1);
  }

  removeDetached(): void {
    Atomics.sub(this.#detached, 0, 1);
    Atomics.sub(this.#detached, 1 + this.#node, 1);
  }

  detachedCount(): number {
    return Atomics.load(this.#detached, 0);
  }

  /** Gives back what a dead node had open. Called by the main thread when the node is gone. */
  forgetNode(node: number): void {
    const base = node * slotCount;
    for (let slot = 0; slot < slotCount; slot += 1) {
      const own = this.#tallies[base + slot] ?? 0;
      if (own === 0) continue;
      this.#tallies[base + slot] = 0;
      Atomics.sub(this.#words, slot * wordsPerSlot + 1, own);
    }
    const detached = Atomics.exchange(this.#detached, 1 + node, 0);
    Atomics.sub(this.#detached, 0, detached);
  }

  #countOwn(slot: number, by: 1 | -1): void {
    const index = this.#node * slotCount + slot;
    this.#tallies[index] = (this.#tallies[index] ?? 0) + by;
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
