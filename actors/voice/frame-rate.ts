// How fast a client may send, pure: audio at the rate of the clock with a burst for networks that
// stall, text messages as fast as fingers. A bucket of time that fills with the clock.

export interface Bucket {
  readonly capacityMs: number;
  /** Milliseconds of allowance for each millisecond of the clock. */
  readonly rate: number;
  levelMs: number;
  atMs: number;
}

export function fullBucket(capacityMs: number, rate: number, nowMs: number): Bucket {
  return { capacityMs, rate, levelMs: capacityMs, atMs: nowMs };
}

/** Takes from the bucket; false: there is not enough in it, and nothing was taken. */
export function take(bucket: Bucket, costMs: number, nowMs: number): boolean {
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  bucket.atMs = nowMs;
  const filledMs = Math.min(bucket.capacityMs, bucket.levelMs + elapsedMs * bucket.rate);
  // What was given beyond it stays until it is taken.
  bucket.levelMs = Math.max(bucket.levelMs, filledMs);
  if (bucket.levelMs < costMs) return false;
  bucket.levelMs -= costMs;
  return true;
}

/** For what comes late through no fault of the client: it may exceed the capacity. */
export function give(bucket: Bucket, amountMs: number): void {
  bucket.levelMs = Math.max(bucket.levelMs, bucket.capacityMs) + amountMs;
}

/** Whether the client has kept so far below its rate that its past is forgotten. */
export function isRested(bucket: Bucket): boolean {
  return bucket.levelMs >= bucket.capacityMs / 2;
}
