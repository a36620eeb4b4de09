// Keeps a thread awake between two messages of a dense conversation. To sleep in the event loop and
// be woken costs a virtual machine more time and CPU than both messages: see bench/results.md.

/** What a sleep and its wake-up cost, so that staying awake at most doubles the price. */
const spinMs = 0.05;
/** Messages further apart than this are no conversation. */
const denseMs = 0.15;
/** After vain attempts in a row the next one is this many messages away, at most. */
const skippedMax = 64;

/** The loop of this thread: milliseconds, and a call in its next turn. */
export interface LoopClock {
  nowMs(): number;
  nextTurn(call: () => void): void;
}

const ownLoop: LoopClock = {
  nowMs: () => performance.now(),
  nextTurn: (call) => void setImmediate(call),
};

export class BusyPoll {
  readonly #loop: LoopClock;
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #untilMs = 0;
  #isSpinning = false;
  #isAnswered = false;
  #vain = 0;
  #skips = 0;

  constructor(loop: LoopClock = ownLoop) {
    this.#loop = loop;
  }

  /** A message came from another thread: the next one may be near. */
  heard(): void {
    const nowMs = this.#loop.nowMs();
    const isDense = nowMs - this.#heardAtMs < denseMs;
    this.#heardAtMs = nowMs;
    if (this.#isSpinning) {
      this.#isAnswered = true;
      this.#untilMs = nowMs + spinMs;
    } else if (isDense) this.#begin(nowMs);
  }

  #begin(nowMs: number): void {
    if (this.#skips > 0) {
      this.#skips -= 1;
      return;
    }
    this.#isSpinning = true;
    this.#isAnswered = false;
    this.#untilMs = nowMs + spinMs;
    this.#loop.nextTurn(this.#spin);
  }

  // The loop polls its sockets and ports in each turn, and does not sleep while this waits.
  readonly #spin = (): void => {
    if (this.#loop.nowMs() < this.#untilMs) {
      this.#loop.nextTurn(this.#spin);
      return;
    }
    this.#isSpinning = false;
    this.#vain = this.#isAnswered ? 0 : Math.min(this.#vain + 1, Math.log2(skippedMax));
    this.#skips = this.#vain === 0 ? 0 : 2 ** this.#vain;
  };
}
