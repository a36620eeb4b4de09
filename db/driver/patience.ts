// What a start asks of the database, asked again where the server only stalled: a disk that is
// busy for a moment must not keep a process from starting. All of it may be repeated, as a process
// that was killed in its start repeats it, too.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../runtime/log.ts';
import { DeadlineError } from './sql.ts';

const triesMax = 5;
const pauseMs = 250;

/** Lost or refused connections, statements that the server ended, and its own stops and starts. */
const passingCodes = [
  /^(CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONN(RESET|REFUSED)|EPIPE)$/,
  /^(57014|57P0[1-3]|08...|53300|40001|40P01)$/,
];

function isPassing(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  return error instanceof DeadlineError || passingCodes.some((known) => known.test(code));
}

/** Does work that may be repeated, at most five times; other errors are thrown at once. */
export async function patiently<T>(
  work: () => Promise<T>,
  log: Pick<Logger, 'warn'>,
  { waitMs = pauseMs }: { waitMs?: number } = {},
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === triesMax || !isPassing(error)) throw error;
      log.warn({ err: error, tries }, 'the database did not do it at the start: asked again');
      await sleep(waitMs * 2 ** (tries - 1));
    }
  }
}
