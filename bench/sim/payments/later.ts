// What a simulated provider does later: bounded in number, and forgotten when the simulator closes.

const waitingMax = 10_000;

export class Later {
  readonly #timers = new Set<NodeJS.Timeout>();

  #isClosed = false;

  /** Does nothing where too much waits already. */
  after(delayMs: number, act: () => void): void {
    if (this.#isClosed || this.#timers.size >= waitingMax) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, delayMs);
    this.#timers.add(timer);
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
