// Time as far as this thread was awake to see it. After a standstill (a paused machine, a stopped
// process) timers come before what has arrived meanwhile is read: a deadline for something that
// comes from outside counts this time, and has a look at what arrived before it says late.

/** How often the clock is looked at, at least. */
const lookMs = 100;
/** More than this between two looks is a standstill; so much of it counts, also under load. */
const gapMsMax = 500;

let seenMs = performance.now();
let stoodMs = 0;
let looking: NodeJS.Timeout | null = null;

/** Milliseconds that never go back and hardly pass while the thread stands still. */
export function awakeMs(): number {
  const nowMs = performance.now();
  if (looking === null) {
    looking = setInterval(awakeMs, lookMs).unref();
    seenMs = nowMs;
  }
  const gapMs = nowMs - seenMs;
  if (gapMs > gapMsMax) stoodMs += gapMs - gapMsMax;
  seenMs = nowMs;
  return nowMs - stoodMs;
}

/** How long this thread has stood still, as far as it had looked when it last did. */
export function stoodStillMs(): number {
  return stoodMs;
}

/** For what to do when time is over: what has arrived is read before. */
export function afterReading(work: () => void): NodeJS.Immediate {
  return setImmediate(work);
}

/** A deadline in this time. */
export class AwakeTimer {
  readonly #late: () => void;
  readonly #untilMs: number;
  #timer: NodeJS.Timeout;
  #reading: NodeJS.Immediate | null = null;

  constructor(ms: number, late: () => void) {
    this.#late = late;
    this.#untilMs = awakeMs() + ms;
    this.#timer = setTimeout(look, ms, this);
  }

  cancel(): void {
    clearTimeout(this.#timer);
    if (this.#reading !== null) clearImmediate(this.#reading);
  }

  look(): void {
    const leftMs = this.#untilMs - awakeMs();
    // Timers may be early by a part of a millisecond.
    if (leftMs < 1) this.#reading = afterReading(this.#late);
    else this.#timer = setTimeout(look, leftMs, this);
  }
}

function look(timer: AwakeTimer): void {
  timer.look();
}

/** An abort signal at a deadline in this time; `end` when nobody waits for it any more. */
export function awakeSignal(ms: number): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  const timer = new AwakeTimer(ms, () => controller.abort());
  return { signal: controller.signal, end: () => timer.cancel() };
}
