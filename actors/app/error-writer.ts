// Errors of apps on their way to the database: while one statement writes, what comes waits for the
// next. A fault that ten thousand apps have at once is one row, and one writer of it a shard.
import type { ToldError } from '../../db/app/errors.ts';
import type { AppLimits } from './limits.ts';

export interface ErrorWriter {
  /** Resolves when it is durable. False: too many wait. Rejects when the database fails. */
  put(error: ToldError): Promise<boolean>;
}

interface Waiting {
  error: ToldError;
  done(isWritten: boolean): void;
  fail(reason: unknown): void;
}

interface Options {
  write(errors: readonly ToldError[]): Promise<unknown>;
  limits: AppLimits['errors'];
}

export function createErrorWriter({ write, limits }: Options): ErrorWriter {
  let waiting: Waiting[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, limits.batchMax);
      waiting = waiting.slice(limits.batchMax);
      try {
        await write(batch.map(({ error }) => error));
        for (const each of batch) each.done(true);
      } catch (reason) {
        for (const each of batch) each.fail(reason);
      }
    }
    isWriting = false;
  }

  return {
    put(error) {
      if (waiting.length >= limits.pendingMax) return Promise.resolve(false);
      return new Promise<boolean>((done, fail) => {
        waiting.push({ error, done, fail });
        void writeAll();
      });
    },
  };
}
