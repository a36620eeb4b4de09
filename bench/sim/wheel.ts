// One coarse timer wheel for every paced stream: a single interval runs while anything waits, so
// thousands of streams cost a list walk each tick instead of a timer for each event.

export interface WheelEntry {
  /** Due tick; owned by the wheel. */
  dueTick: number;
  cancelled: boolean;
  fire(): void;
}

const tickMs = 2;
const slotCount = 1024;

export class TimerWheel {
  readonly #slots: WheelEntry[][] = Array.from({ length: slotCount }, () => []);
  #currentTick = Math.floor(performance.now() / tickMs);
  #waiting = 0;
  #interval: NodeJS.Timeout | null = null;

  /** Fires at the first tick at or after `dueMs` (clock: performance.now()), never at once. */
  schedule(entry: WheelEntry, dueMs: number): void {
    if (this.#interval === null) {
      this.#currentTick = Math.floor(performance.now() / tickMs);
      this.#interval = setInterval(() => this.#advance(), tickMs);
    }
    entry.dueTick = Math.max(this.#currentTick + 1, Math.ceil(dueMs / tickMs));
    this.#slots[entry.dueTick % slotCount]?.push(entry);
    this.#waiting += 1;
  }

  #advance(): void {
    const targetTick = Math.floor(performance.now() / tickMs);
    while (this.#currentTick < targetTick) {
      this.#currentTick += 1;
      const index = this.#currentTick % slotCount;
      const slot = this.#slots[index];
      if (slot === undefined || slot.length === 0) continue;
      this.#slots[index] = [];
      this.#runSlot(slot);
    }
    if (this.#waiting === 0 && this.#interval !== null) {
      clearInterval(this.#interval);
      this.#interval = null;
    }
  }

  #runSlot(slot: WheelEntry[]): void {
    for (const entry of slot) {
      if (!entry.cancelled && entry.dueTick > this.#currentTick) {
        this.#slots[entry.dueTick % slotCount]?.push(entry);
        continue;
      }
      this.#waiting -= 1;
      if (!entry.cancelled) entry.fire();
    }
  }
}
