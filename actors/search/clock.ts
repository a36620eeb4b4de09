// The time that searches go by: deadlines count what the thread was awake for, ages and rests go by
// the clock of the day. Tests have one of their own.
import { AwakeTimer, awakeMs } from '../../runtime/awake.ts';

export interface SearchClock {
  /** Epoch milliseconds. */
  nowMs(): number;
  /** Never goes back, and stands still with the thread. */
  awakeMs(): number;
  /** Resolves after this time, or as soon as the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export const realClock: SearchClock = {
  nowMs: Date.now,
  awakeMs,
  pause: (ms, signal) =>
    new Promise((resolve) => {
      const end = () => {
        timer.cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = new AwakeTimer(ms, end);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
    }),
};
