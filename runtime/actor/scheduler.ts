// Which actor runs next on this node: a queue of cells with mail, drained in microtasks.
// After 1,000 messages or 2 ms it leaves the event loop a turn, so that sockets are never starved.

const messagesPerTurnMax = 1_000;
const msPerTurnMax = 2;
const messagesPerSlice = 64;
const inlineDepthMax = 16;

/** What can be scheduled. `runSlice` handles at most `messagesMax` and says how many it did. */
export interface Runnable {
  nextRunnable: Runnable | null;
  runSlice(messagesMax: number): number;
}

export class Scheduler {
  #head: Runnable | null = null;
  #tail: Runnable | null = null;
  #wake: 'none' | 'microtask' | 'immediate' = 'none';
  // Both count over several microtask runs, as a chain of promises can keep a turn alive for ever.
  #messagesInTurn = 0;
  #msInTurn = 0;
  #inlineDepth = 0;
  #gathering: Runnable[] = [];

  readonly #run = (): void => {
    this.#wake = 'none';
    const startedAt = performance.now();
    let elapsedMs = 0;
    while (this.#head !== null) {
      if (
        this.#messagesInTurn >= messagesPerTurnMax ||
        this.#msInTurn + elapsedMs >= msPerTurnMax
      ) {
        this.#wake = 'immediate';
        setImmediate(this.#runNextTurn);
        return;
      }
      const runnable = this.#head;
      this.#head = runnable.nextRunnable;
      if (this.#head === null) this.#tail = null;
      runnable.nextRunnable = null;
      this.#messagesInTurn += runnable.runSlice(messagesPerSlice);
      elapsedMs = performance.now() - startedAt;
    }
    this.#msInTurn += elapsedMs;
  };

  readonly #runNextTurn = (): void => {
    this.#messagesInTurn = 0;
    this.#msInTurn = 0;
    this.#run();
  };

  readonly #runGathered = (): void => {
    const gathered = this.#gathering;
    this.#gathering = [];
    for (const runnable of gathered) this.schedule(runnable);
  };

  /** Queues it; the caller sees to it that nothing is queued twice. */
  schedule(runnable: Runnable): void {
    if (this.#tail === null) this.#head = runnable;
    else this.#tail.nextRunnable = runnable;
    this.#tail = runnable;
    if (this.#wake !== 'none') return;
    this.#wake = 'microtask';
    queueMicrotask(this.#run);
  }

  /** Queues it for the end of this turn of the loop: what arrives until then is in its batch. */
  gather(runnable: Runnable): void {
    this.#gathering.push(runnable);
    if (this.#gathering.length === 1) setImmediate(this.#runGathered);
  }

  /** Whether a message may be handled on the caller's stack; pair it with `leaveInline`. */
  enterInline(): boolean {
    if (this.#inlineDepth >= inlineDepthMax || this.#messagesInTurn >= messagesPerTurnMax) {
      return false;
    }
    this.#inlineDepth += 1;
    this.#messagesInTurn += 1;
    return true;
  }

  leaveInline(): void {
    this.#inlineDepth -= 1;
  }
}
