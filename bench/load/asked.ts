// The parent's handle on a forked process that answers one question at a time over its IPC channel,
// each with a deadline; and the other end of it.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

type Answer = { ok: true; result: unknown } | { ok: false; error: string };

export class Asked<Job> {
  readonly #child: ChildProcess;
  readonly #name: string;

  /** `module` lies beside this file, compiled. */
  constructor(module: string) {
    this.#name = module.replace(/\.js$/, '');
    this.#child = fork(fileURLToPath(new URL(module, import.meta.url)), [], {
      execArgv: [],
      // JSON would make null of what is not a number.
      serialization: 'advanced',
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }

  /** The type of the answer is the caller's knowledge of the job. */
  ask<Result>(job: Job, timeoutMs: number): Promise<Result> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const finish = (act: () => void): void => {
        clearTimeout(timer);
        child.off('message', onMessage);
        child.off('exit', onExit);
        act();
      };
      const fail = (why: string): void => finish(() => reject(new Error(`${this.#name} ${why}`)));
      const onMessage = (answer: Answer): void => {
        if (answer.ok) finish(() => resolve(answer.result as Result));
        else fail(`failed: ${answer.error}`);
      };
      const onExit = (): void => fail('ended');
      const timer = setTimeout(() => fail(`did not answer in ${timeoutMs} ms`), timeoutMs);
      child.on('message', onMessage);
      child.once('exit', onExit);
      child.send(job as object);
    });
  }
}

/** Answers the parent's questions until it is gone; then this process ends. */
export function answerParent<Job>(answer: (job: Job) => Promise<unknown>): void {
  const reply = (message: Answer): void => {
    process.send?.(message);
  };
  process.on('message', (job: Job) => {
    answer(job).then(
      (result) => reply({ ok: true, result }),
      (error: unknown) => reply({ ok: false, error: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}
