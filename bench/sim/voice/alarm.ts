// One thing that a live session does later, on the simulator's wheel. Setting it again replaces it.
import type { TimerWheel, WheelEntry } from '../wheel.ts';

export class Alarm {
  readonly #wheel: TimerWheel;
  #entry: WheelEntry | null = null;

  constructor(wheel: TimerWheel) {
    this.#wheel = wheel;
  }

  /** `dueMs` is of `performance.now()`. */
  set(dueMs: number, act: () => void): void {
    this.clear();
    const entry: WheelEntry = {
      dueTick: 0,
      cancelled: false,
      fire: () => {
        this.#entry = null;
        act();
      },
    };
    this.#entry = entry;
    this.#wheel.schedule(entry, dueMs);
  }

  clear(): void {
    if (this.#entry !== null) this.#entry.cancelled = true;
    this.#entry = null;
  }
}
