// Batches of the lanes on the shard's own Piscina thread. The thread runs one long task that waits
// in shared memory, so that a batch costs two wake-ups (20 µs of CPU) and not a task (200 µs).
import type { Logger } from '../../../runtime/log.ts';
import { createPool, type Pool, type TaskRefusal } from '../../../runtime/work/pool.ts';
import type { Control } from './control.ts';
import type { Slab } from './slab.ts';

export interface BatchRunnerOptions {
  /** Of one attempt. */
  timeoutMs: number;
  log: Logger;
}

/** How patient one batch is; absent: as the runner was told. */
export interface Patience {
  timeoutMs: number;
  attemptsMax: number;
}

export interface BatchRunner {
  /**
   * Computes the first `jobs` rows of the slab's table; with none it only starts the thread. One
   * batch at a time. False: no attempt was answered in time, or the runner was stopped.
   */
  run(jobs: number, patience?: Patience): Promise<boolean>;
  /** Attempts after the first ones. */
  readonly retries: number;
  stop(): Promise<void>;
}

/** Of one batch. The backlog of a lane is longer than all of them: nothing is dropped before. */
const attemptsMax = 3;
/** A thread that was asked for nothing ends after this, twice: its task, then Piscina's own. */
export const idleMs = 30_000;
const taskFile = new URL('../../tasks/resample.js', import.meta.url);

/** The batch that is being computed. */
interface Batch {
  jobs: number;
  attempt: number;
  patience: Patience;
  deadline: NodeJS.Timeout;
  settle(isDone: boolean): void;
}

class SharedRunner implements BatchRunner {
  readonly #control: Control;
  readonly #pool: Pool;
  readonly #usual: Patience;
  readonly #log: Logger;
  #batch: Batch | null = null;
  /** Ends the task that serves; null: none does. */
  #serving: AbortController | null = null;
  #isStopped = false;
  retries = 0;

  constructor({ control, memory }: Slab, { timeoutMs, log }: BatchRunnerOptions) {
    this.#control = control;
    this.#usual = { timeoutMs, attemptsMax };
    this.#log = log;
    const pool = { threadsMax: 1, queueLengthMax: 1, idleMs, timeoutMs, log, threadData: memory };
    this.#pool = createPool(pool);
  }

  run(jobs: number, patience = this.#usual): Promise<boolean> {
    if (this.#isStopped) return Promise.resolve(false);
    return new Promise((settle) => {
      const deadline = this.#deadline(patience);
      this.#batch = { jobs, attempt: 1, patience, deadline, settle };
      const answer = this.#control.ask(jobs);
      if (this.#serving === null) this.#serve();
      if (answer === null) this.#answered();
      else void answer.then(() => this.#answered());
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#control.dismiss();
    this.#settle(false);
    await this.#pool.stop();
  }

  /** Also called for a batch that was given up: then another one, or none, is being computed. */
  #answered(): void {
    if (this.#control.isAnswered) this.#settle(true);
  }

  #settle(isDone: boolean): void {
    const batch = this.#batch;
    if (batch === null) return;
    this.#batch = null;
    clearTimeout(batch.deadline);
    batch.settle(isDone);
  }

  #deadline({ timeoutMs }: Patience): NodeJS.Timeout {
    return setTimeout(() => this.#serving?.abort(), timeoutMs);
  }

  /** A thread that begins computes what was asked for and not answered, whoever was to do it. */
  #serve(): void {
    const ending = new AbortController();
    this.#serving = ending;
    const options = { signal: ending.signal, timeoutMs: Number.POSITIVE_INFINITY };
    const term = this.#control.beginTerm();
    void this.#pool.run(taskFile, { term, idleMs }, options).then((answer) => {
      this.#serving = null;
      if (this.#isStopped || this.#batch === null) return;
      // It was idle, and left in the moment in which it was asked again.
      if (answer.ok) this.#serve();
      else this.#again(this.#batch, answer.refused);
    });
  }

  #again(batch: Batch, refused: TaskRefusal): void {
    const { attempt, jobs, patience } = batch;
    clearTimeout(batch.deadline);
    this.#log.warn({ refused, attempt, jobs }, 'resampling failed');
    if (attempt >= patience.attemptsMax) {
      this.#control.giveUp();
      this.#settle(false);
      return;
    }
    this.retries += 1;
    batch.attempt += 1;
    batch.deadline = this.#deadline(patience);
    this.#serve();
  }
}

/** The runner of one slab. No thread starts before the first batch. */
export function createBatchRunner(slab: Slab, options: BatchRunnerOptions): BatchRunner {
  return new SharedRunner(slab, options);
}
