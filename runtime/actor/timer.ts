// A message that comes later, once or again and again; it dies with its actor.
// It never keeps the process alive by itself.
import type { Timer } from './contract.ts';

const delayMsMax = 2 ** 31 - 1;

/** Where a timer delivers. */
export interface TimerOwner {
  readonly timers: Set<ActorTimer> | null;
  timerFired(message: string, payload: unknown, again: boolean): void;
}

export class ActorTimer implements Timer {
  readonly #owner: TimerOwner;
  readonly #message: string;
  readonly #payload: unknown;
  readonly #handle: NodeJS.Timeout;
  readonly #again: boolean;

  /** `delayMs` over 24.8 days is cut to that, where Node would fire at once. */
  constructor(
    owner: TimerOwner,
    delayMs: number,
    message: string,
    payload: unknown,
    again: boolean,
  ) {
    this.#owner = owner;
    this.#message = message;
    this.#payload = payload;
    this.#again = again;
    const ms = Math.min(Math.max(delayMs, 0), delayMsMax);
    this.#handle = again ? setInterval(fire, Math.max(ms, 1), this) : setTimeout(fire, ms, this);
    this.#handle.unref();
  }

  fire(): void {
    if (!this.#again) this.#owner.timers?.delete(this);
    this.#owner.timerFired(this.#message, this.#payload, this.#again);
  }

  cancel(): void {
    clearTimeout(this.#handle);
    this.#owner.timers?.delete(this);
  }
}

function fire(timer: ActorTimer): void {
  timer.fire();
}
