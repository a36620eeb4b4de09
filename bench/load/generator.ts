// The parent's handle on a load generator process: one job at a time, each with a deadline.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type {
  HoldJob,
  HoldResult,
  Job,
  JobReply,
  LoadJob,
  LoadResult,
  ProbeJob,
  ProbeResult,
} from './job.ts';

const generatePath = fileURLToPath(new URL('./generate.js', import.meta.url));

export class Generator {
  readonly #child: ChildProcess = fork(generatePath, [], { execArgv: [] });

  load(job: LoadJob, timeoutMs: number): Promise<LoadResult> {
    return this.#run(job, timeoutMs) as Promise<LoadResult>;
  }

  hold(job: HoldJob, timeoutMs: number): Promise<HoldResult> {
    return this.#run(job, timeoutMs) as Promise<HoldResult>;
  }

  probe(job: ProbeJob, timeoutMs: number): Promise<ProbeResult> {
    return this.#run(job, timeoutMs) as Promise<ProbeResult>;
  }

  /** Closes all held streams and says how many had lasted until now. */
  release(): Promise<HoldResult> {
    return this.#run({ kind: 'release' }, 10_000) as Promise<HoldResult>;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }

  #run(job: Job, timeoutMs: number): Promise<unknown> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const finish = (act: () => void): void => {
        clearTimeout(timer);
        child.off('message', onMessage);
        child.off('exit', onExit);
        act();
      };
      const fail = (why: string): void => finish(() => reject(new Error(`load generator ${why}`)));
      const onMessage = (reply: JobReply): void => {
        if (reply.ok) finish(() => resolve(reply.result));
        else fail(`failed: ${reply.error}`);
      };
      const onExit = (): void => fail('ended');
      const timer = setTimeout(() => fail(`did not finish in ${timeoutMs} ms`), timeoutMs);
      child.on('message', onMessage);
      child.once('exit', onExit);
      child.send(job);
    });
  }
}
