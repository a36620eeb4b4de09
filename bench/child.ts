// A child process of a bench: started, awaited and stopped with deadlines, its output kept for the
// case that it fails. All of them are killed when the bench itself ends in any way.
import { type ChildProcess, spawn } from 'node:child_process';
import { connect as connectSocket, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const OUTPUT_CHARS_MAX = 16_384;
const STOP_MS = 15_000;
const running = new Set<ChildProcess>();

export interface Child {
  pid: number;
  /** The last output, for error messages. */
  output(): string;
  /** Resolves when a line of output matches; rejects when the child ends first or time is up. */
  line(pattern: RegExp, timeoutMs: number): Promise<string>;
  ended(): boolean;
  /** SIGTERM, then SIGKILL after 15 s; resolves when it is gone. */
  stop(): Promise<void>;
}

/** Kills what is still running; for exit handlers and signals. */
export function killChildren(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts a program with this environment added to a clean one. */
export function startChild(
  file: string,
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): Child {
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...cleanEnvironment(), ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  running.add(child);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  let text = '';
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const collect = (chunk: Buffer): void => {
    text = (text + chunk.toString('utf8')).slice(-OUTPUT_CHARS_MAX);
    notify();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  let over = false;
  child.once('error', (error) => collect(Buffer.from(String(error))));
  exited.then(
    () => {
      over = true;
      running.delete(child);
      notify();
    },
    () => undefined,
  );
  const ended = (): boolean => over;
  const line = (pattern: RegExp, timeoutMs: number): Promise<string> =>
    waitForLine(pattern, timeoutMs, { listeners, text: () => text, ended, file });
  return { pid: child.pid ?? -1, output: () => text, ended, line, stop };

  async function stop(): Promise<void> {
    if (over) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exited;
    clearTimeout(timer);
  }
}

interface Output {
  listeners: Set<() => void>;
  text(): string;
  ended(): boolean;
  file: string;
}

function waitForLine(pattern: RegExp, timeoutMs: number, output: Output): Promise<string> {
  return new Promise((resolve, reject) => {
    const finish = (act: () => void): void => {
      clearTimeout(timer);
      output.listeners.delete(look);
      act();
    };
    const fail = (why: string): void =>
      finish(() => reject(new Error(`${output.file} ${why}:\n${output.text()}`)));
    const look = (): void => {
      const match = pattern.exec(output.text());
      if (match !== null) finish(() => resolve(match[0]));
      else if (output.ended()) fail('ended too early');
    };
    const timer = setTimeout(() => fail(`did not print ${pattern} in ${timeoutMs} ms`), timeoutMs);
    output.listeners.add(look);
    look();
  });
}

/** The environment without anything that configures a gateway, a database or a provider. */
function cleanEnvironment(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'USER'];
  return Object.fromEntries(
    kept.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** A loopback port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Waits until something accepts connections on a loopback port. */
export async function portOpen(port: number, child: Child, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await accepts(port))) {
    if (child.ended() || performance.now() > deadline) {
      throw new Error(`nothing listens on port ${port}:\n${child.output()}`);
    }
    await sleep(20);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
