// Keeps one child process alive: started again at once after a crash, within a restart intensity.
// Children have a session of their own, so that Ctrl-C reaches the parent only, who stops them.
import type { ChildProcess } from 'node:child_process';

export interface SupervisedOptions {
  /** Forks the child and attaches to it; called again for every restart. */
  launch(): ChildProcess;
  /** An exit that nobody asked for; a restart follows, unless the intensity is used up. */
  onCrash(how: string): void;
  /** Whether the last one has told why it does not go on, such as a database that is away. */
  hasToldWhy?(): boolean;
  /** Restarted too often: nothing will be started any more. */
  onGiveUp(how: string): void;
  restartsMax: number;
  restartsWithinMs: number;
}

export interface Supervised {
  /** The child of this moment; null between two of them. */
  current(): ChildProcess | null;
  /**
   * Stops the child by `ask` and waits at most `timeoutMs`, then kills it. Resolves to false when
   * it had to be killed. No restart follows.
   */
  stop(ask: (child: ChildProcess) => void, timeoutMs: number): Promise<boolean>;
}

/** A child that fails this soon after its start is restarted more and more slowly. */
const EARLY_MS = 1_000;
const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 500;
/** Who tells why is started again as often without delay, and then for as long as it takes. */
const HASTY_MAX = 3;

function waitForExit(child: ChildProcess, timeoutMs: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.off('exit', onExit);
      resolve(false);
    }, timeoutMs);
    const onExit = () => {
      clearTimeout(timer);
      resolve(true);
    };
    child.once('exit', onExit);
  });
}

/** Starts the child and supervises it until `stop`. */
export function supervise(options: SupervisedOptions): Supervised {
  let child: ChildProcess | null = null;
  let pause: NodeJS.Timeout | undefined;
  let stopping = false;
  let early = 0;
  const crashes: number[] = [];

  const onEnd = (how: string, startedAt: number) => {
    child = null;
    if (stopping) return;
    options.onCrash(how);
    const now = performance.now();
    crashes.push(now);
    const { restartsMax, restartsWithinMs } = options;
    const recent = crashes.filter((at) => at > now - restartsWithinMs).length;
    if (recent > restartsMax) {
      stopping = true;
      return options.onGiveUp(how);
    }
    early = now - startedAt < EARLY_MS ? early + 1 : 0;
    const hastyMs = early === 0 ? 0 : Math.min(PAUSE_MS_MIN * 2 ** early, PAUSE_MS_MAX);
    // So many and no more fit beside the hasty ones: it never comes to giving up.
    const patientMs = restartsWithinMs / Math.max(1, restartsMax - HASTY_MAX - 1);
    const isPatient = options.hasToldWhy?.() === true && recent >= HASTY_MAX;
    pause = setTimeout(start, isPatient ? patientMs : hastyMs);
  };

  const start = () => {
    const startedAt = performance.now();
    let launched: ChildProcess;
    try {
      launched = options.launch();
    } catch (error) {
      // Where there is no memory for another process: what took it may be about to end.
      onEnd(error instanceof Error ? error.message : String(error), startedAt);
      return;
    }
    child = launched;
    let over = false;
    const once = (how: string) => {
      if (over) return;
      over = true;
      onEnd(how, startedAt);
    };
    launched.once('error', (error) => once(error.message));
    launched.once('exit', (code, signal) => once(signal ?? `exit code ${code}`));
  };
  start();

  return {
    current: () => child,
    stop: async (ask, timeoutMs) => {
      stopping = true;
      clearTimeout(pause);
      const last = child;
      if (last === null) return true;
      ask(last);
      if (await waitForExit(last, timeoutMs)) return true;
      last.kill('SIGKILL');
      await waitForExit(last, timeoutMs);
      return false;
    },
  };
}
