// Passwords are hashed on a pool of their own, in the main thread: answers need the shared one.
// Nobody has a share of it, because those who sign in are not known yet: all stand in one line.
import { compiledFile } from '../../runtime/files.ts';
import type { Logger } from '../../runtime/log.ts';
import { createPool, type TaskAnswer } from '../../runtime/work/pool.ts';
import type { PasswordLimits } from './password-limits.ts';

/** A file of media/tasks, without its ending. */
export const passwordTask = 'password';

export interface Hashing {
  /** Runs the task. Never rejects. */
  run(payload: unknown): Promise<TaskAnswer<unknown>>;
  /** Ends what runs and refuses what comes. */
  stop(): Promise<void>;
}

export function createHashing(limits: PasswordLimits, log: Logger): Hashing {
  const { threadsMax, queueLengthMax, waitMs, workMs, idleMs } = limits;
  const timeoutMs = waitMs + workMs;
  const pool = createPool({ threadsMax, queueLengthMax, waitMs, timeoutMs, idleMs, log });
  const file = compiledFile(`media/tasks/${passwordTask}.js`);
  return {
    run: (payload) => pool.run<unknown>(file, payload),
    stop: () => pool.stop(),
  };
}
