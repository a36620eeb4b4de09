// Tool calls of the running answer. The model goes on by itself only when it is asked to, once:
// after the last result, when no response runs and the user's speech does not cause one anyway.

import { dropOldest } from './answers.ts';

const keptMax = 256;

export class ToolCalls {
  /** The user's own turn will make the server respond: from its begin to that response. */
  isUserTurn = false;
  /** An answer waits for the results of `#open`. */
  #isWaiting = false;
  readonly #open = new Set<string>();
  /** Calls of answers that were given up; many of them never have a result. */
  readonly #late = new Set<string>();
  readonly #seen = new Set<string>();

  /** False: it was told before. */
  begin(callId: string): boolean {
    if (this.#seen.has(callId)) return false;
    this.#seen.add(callId);
    dropOldest(this.#seen, keptMax);
    this.#open.add(callId);
    this.#isWaiting = true;
    return true;
  }

  /** False: there is no such call, or it has its result. */
  end(callId: string): boolean {
    return this.#open.delete(callId) || this.#late.delete(callId);
  }

  /** The answer was interrupted: results are still told, but nothing waits for them. */
  giveUp(): void {
    this.#isWaiting = false;
    for (const callId of this.#open) {
      this.#late.add(callId);
      dropOldest(this.#late, keptMax);
    }
    this.#open.clear();
  }

  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Whether the model is to be asked now; true once per answer. */
  takeTurn(isResponseRunning: boolean): boolean {
    if (!this.#isWaiting || this.#open.size > 0 || isResponseRunning) return false;
    this.#isWaiting = false;
    return !this.isUserTurn;
  }
}
