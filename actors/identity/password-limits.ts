// The bounds of hashing passwords, with the arithmetic behind them.
import assert from 'node:assert/strict';
import type { Config } from '../../runtime/config.ts';
import { fixedLimits, type Widened } from '../../runtime/limits.ts';

const SECOND = 1_000;

const passwordLimits = {
  /** As the contract has it. At 10 ms each the last one waits 0.7 s on one thread. */
  queueLengthMax: 64,
  /** Whoever has no thread by then is refused; nobody's hash has begun. */
  waitMs: 3 * SECOND,
  /** Behind a refusal others are refused at once for so long: a tenth of a full line at most. */
  restMs: 0.1 * SECOND,
  /** A start of the thread, the list and a hash, 0.2 s, where shards leave it a tenth of a core. */
  workMs: 5 * SECOND,
  /** The way to the main thread and back, beyond what is bounded there. */
  wayMs: 0.4 * SECOND,
  /** A thread holds 25 MB with the list. People who sign in now and then start none anew. */
  idleMs: 600 * SECOND,
} as const;

export type PasswordLimits = Widened<typeof passwordLimits> & { readonly threadsMax: number };

/** The bounds of this process. Throws where one breaks a relation to others. */
export function createPasswordLimits(config: Pick<Config, 'passwordThreads'>): PasswordLimits {
  const { queueLengthMax, waitMs, wayMs, restMs } = passwordLimits;
  const lineMs = queueLengthMax * 10;
  assert.ok(restMs < lineMs / 5, 'the line does not run dry while others are refused');
  assert.ok(waitMs + wayMs < 3.5 * SECOND, 'a refusal comes within 3.5 s');
  assert.ok(
    queueLengthMax < fixedLimits.actors.mailboxLengthMax,
    'the queue is full before the mailbox of tasks is',
  );
  return { ...passwordLimits, threadsMax: config.passwordThreads };
}
