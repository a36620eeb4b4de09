// Work that every process has to do for itself again and again; what is due once in the whole
// deployment is the queue's.
import type { Logger } from '../log.ts';

/** Repeats the work, one round at a time; what it throws is logged. Returns what ends it. */
export function repeat(
  name: string,
  everyMs: number,
  work: () => Promise<unknown>,
  log: Pick<Logger, 'warn'>,
): () => void {
  let running = false;
  const timer = setInterval(async () => {
    if (running) return;
    running = true;
    try {
      await work();
    } catch (error) {
      log.warn({ err: error, work: name }, 'repeated work failed');
    } finally {
      running = false;
    }
  }, everyMs);
  return () => clearInterval(timer);
}
