// Batches of the lanes on the shard's own Piscina thread. The thread runs one long task that waits
// in shared memory, so that a batch costs two wake-ups (20 µs of CPU) and not a task (200 µs). No
// other task waits for that thread: Piscinas for other work have threads of their own.
import { awakeMs } from '../../../runtime/awake.ts';
import { compiledFile } from '../../../runtime/files.ts';
import type { Logger } from '../../../runtime/log.ts';
import { createPool, type Pool, type TaskRefusal } from '../../../runtime/work/pool.ts';
import { lookMs } from './control.ts';
import type { Slab } from './slab.ts';

export interface BatchRunnerOptions {
  /** Of one attempt. */
  timeoutMs: number;
  /** After this the thread hands back, and is asked again if there is work. */
  termMs: number;
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
   * batch at a time. False: no attempt was answered in time, or the runner was stopped; the slab is
   * nobody's then.
   */
  run(jobs: number, patience?: Patience): Promise<boolean>;
  /** Attempts after the first ones. */
  readonly retries: number;
  stop(): Promise<void>;
}

/** Of one batch. The backlog of a lane is longer than all of them: nothing is dropped before. */
const attemptsMax = 3;
/** Piscina ends a thread whose term was over so long ago. */
export const idleMs = 30_000;
/** Of the task, beyond its term. Batches have shorter deadlines. */
const startTimeoutMs = 30_000;
/** A thread that ends within native code cannot be hurried. */
const endTimeoutMs = 1_000;
const taskFile = compiledFile('media/tasks/resample.js');

type Outcome = 'answered' | 'stopped' | TaskRefusal;

/** The attempt that is being waited for. */
interface Attempt {
  untilMs: number;
  timer: NodeJS.Timeout;
  settle(outcome: Outcome): void;
}

class SharedRunner implements BatchRunner {
  readonly #slab: Slab;
  readonly #usual: Patience;
  readonly #termMs: number;
  readonly #log: Logger;
  #pool: Pool;
  /** A task serves, or is about to. */
  #isServed = false;
  #attempt: Attempt | null = null;
  #isListening = false;
  /** The threads that were ended are gone. */
  #gone: Promise<void> = Promise.resolve();
  #isStopped = false;
  retries = 0;

  constructor(slab: Slab, { timeoutMs, termMs, log }: BatchRunnerOptions) {
    this.#slab = slab;
    this.#usual = { timeoutMs, attemptsMax };
    this.#termMs = termMs;
    this.#log = log;
    this.#pool = this.#openPool();
  }

  async run(jobs: number, patience = this.#usual): Promise<boolean> {
    if (this.#isStopped) return false;
    const { control } = this.#slab;
    control.ask(jobs);
    for (let attempt = 1; ; attempt++) {
      if (!this.#isServed) this.#serve();
      const outcome = await this.#outcome(patience.timeoutMs);
      if (outcome === 'answered') return true;
      if (outcome === 'stopped') break;
      this.#log.warn({ refused: outcome, attempt, jobs }, 'resampling failed');
      const isLast = attempt >= patience.attemptsMax;
      // Where a thread needs so long to start, another one would not be faster.
      if (outcome === 'timeout' && !control.hasBegun && !isLast) continue;
      await this.#end();
      if (this.#isStopped || isLast) break;
      this.retries += 1;
    }
    control.giveUp();
    return false;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#slab.control.dismiss();
    this.#settle('stopped');
    await Promise.all([this.#gone, this.#pool.stop()]);
  }

  #openPool(): Pool {
    return createPool({
      threadsMax: 1,
      queueLengthMax: 1,
      idleMs,
      timeoutMs: this.#termMs + startTimeoutMs,
      log: this.#log,
      threadData: this.#slab.memory,
    });
  }

  #outcome(timeoutMs: number): Promise<Outcome> {
    return new Promise((settle) => {
      const untilMs = awakeMs() + timeoutMs;
      const timer = setTimeout(() => this.#late(), Math.min(lookMs, timeoutMs));
      this.#attempt = { untilMs, timer, settle };
      this.#look();
      this.#listen();
    });
  }

  #settle(outcome: Outcome): void {
    if (this.#attempt === null) return;
    clearTimeout(this.#attempt.timer);
    this.#attempt.settle(outcome);
    this.#attempt = null;
  }

  #look(): void {
    if (this.#slab.control.isAnswered) this.#settle('answered');
  }

  /**
   * Looks whenever an answer may have come. A thread may have been stopped between its answer and
   * the notification, which then comes to the next batch: that one must be listened for again.
   */
  #listen(): void {
    if (this.#isListening || this.#attempt === null) return;
    const change = this.#slab.control.change();
    if (change === null) {
      // It came since the last look.
      this.#look();
      return;
    }
    this.#isListening = true;
    void change.then(() => {
      this.#isListening = false;
      this.#look();
      this.#listen();
    });
  }

  #late(): void {
    this.#look();
    if (this.#attempt === null) return;
    const leftMs = this.#attempt.untilMs - awakeMs();
    if (leftMs <= 0) this.#settle('timeout');
    else this.#attempt.timer = setTimeout(() => this.#late(), Math.min(lookMs, leftMs));
  }

  /** A thread that begins computes what was asked for and not answered, whoever was to do it. */
  #serve(): void {
    const pool = this.#pool;
    const term = this.#slab.control.beginTerm();
    this.#isServed = true;
    void pool.run(taskFile, { term, termMs: this.#termMs }).then((answer) => {
      // Ended already, and what follows is on its way.
      if (pool !== this.#pool || this.#isStopped) return;
      this.#isServed = false;
      this.#look();
      if (this.#attempt === null) return;
      // Its term was over in the moment in which it was asked.
      if (answer.ok) this.#serve();
      else this.#settle(answer.refused);
    });
  }

  /** Ends the thread and waits until it is gone: no two of them work in one slab. */
  async #end(): Promise<void> {
    this.#slab.control.dismiss();
    const ended = this.#pool.stop();
    this.#pool = this.#openPool();
    this.#isServed = false;
    const before = this.#gone;
    this.#gone = ended.then(() => before);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, endTimeoutMs, 'late');
    });
    const outcome = await Promise.race([ended, late]);
    clearTimeout(timer);
    // It was dismissed: it stops at the next row of its table.
    if (outcome === 'late') this.#log.error('a thread of resampling does not end');
  }
}

/** The runner of one slab. No thread starts before the first batch. */
export function createBatchRunner(slab: Slab, options: BatchRunnerOptions): BatchRunner {
  return new SharedRunner(slab, options);
}
