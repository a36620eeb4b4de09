// A wait that keeps no process alive.
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after the time or when the signal aborts, and keeps no process alive. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  const options = signal === undefined ? { ref: false } : { ref: false, signal };
  return sleep(ms, undefined, options).catch(() => undefined);
}
