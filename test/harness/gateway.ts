// The whole product as a user starts it, on a data folder and a port of its own, for tests that
// call, kill and restart it. Whatever becomes of the test process, nothing of it stays behind.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './port.ts';

export interface GatewayOptions {
  /** Added to a nearly empty environment; `TOLLGATE_DATA` and `PORT` are set already. */
  env?: Record<string, string>;
  /** Default 2. */
  shards?: number;
  /** The system user that runs it; only root may choose. */
  user?: { uid: number; gid: number };
  /** From the start of the process to its ready line; default 30 s. */
  readyTimeoutMs?: number;
}

/** `TOLLGATE_DATA/dev.json` (decisions.md, section 1). */
export interface DevFile {
  base_url: string;
  api_key: string;
  session_token: string;
  admin_session_token: string;
  account_id: string;
  wallet_id: string;
  simulator_url: string;
  mailbox_url: string | null;
}

export interface Gateway {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  /** Of the last start. Fails in production mode, which writes none. */
  readonly dev: DevFile;
  /** What it wrote on both outputs, over all its starts, newest last. */
  readonly logs: string[];
  readonly parentPid: number;
  /** The main process of this moment; fails when there is none. */
  mainPid(): Promise<number>;
  postmasterPid(): Promise<number>;
  /** Kills the main process; the parent starts it again. Resolves when it is ready again. */
  killMain(signal?: NodeJS.Signals): Promise<void>;
  /** Kills the parent only; its children have to notice. Resolves when it is gone. */
  killParent(): Promise<void>;
  /** Kills parent, main, simulator, keeper and database at once. Resolves when all are gone. */
  killAll(): Promise<void>;
  /** Starts again on the same data and port after a kill or a stop. */
  start(): Promise<void>;
  /** SIGTERM; resolves with the exit code, null when it had to be killed after the time. */
  stop(timeoutMs?: number): Promise<number | null>;
  /** Ends whatever runs and removes the data. For `after`; never throws. */
  close(): Promise<void>;
}

const READY_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 90_000;
const LOG_LINES_MAX = 5_000;
const SHOWN_LINES = 30;

const entry = fileURLToPath(new URL('../../runtime/start.js', import.meta.url));
const run = promisify(execFile);

interface ProcessRow {
  pid: number;
  ppid: number;
  command: string;
}

async function listProcesses(): Promise<ProcessRow[]> {
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line);
    if (found === null) return [];
    return [{ pid: Number(found[1]), ppid: Number(found[2]), command: found[3] ?? '' }];
  });
}

function descendantsOf(root: number, rows: ProcessRow[]): ProcessRow[] {
  const children = rows.filter(({ ppid }) => ppid === root);
  return children.flatMap((child) => [child, ...descendantsOf(child.pid, rows)]);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, which is what was wanted.
  }
}

/** On a busy machine one that was killed holds its port and its locks for a while yet. */
async function waitForEndOf(killed: ProcessRow[]): Promise<void> {
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  // One that is dead and not yet collected has another command.
  const isThere = (row: ProcessRow) =>
    killed.some(({ pid, command }) => pid === row.pid && command === row.command);
  while ((await listProcesses()).some(isThere)) {
    if (performance.now() > deadline) throw new Error('what was killed does not end');
    await sleep(20);
  }
}

/** A shell outside our session that kills `pid` when this process ends, however it ends. */
function guard(pid: number): ChildProcess {
  const child = spawn('/bin/sh', ['-c', `read -r _; kill -9 ${pid} 2>/dev/null`], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin?.on('error', () => undefined);
  child.unref();
  return child;
}

class RunningGateway implements Gateway {
  readonly logs: string[] = [];
  readonly url: string;
  readonly dataDir: string;
  readonly #folder: string;
  readonly #options: GatewayOptions;
  #child: ChildProcess | null = null;
  #guard: ChildProcess | null = null;
  #dev: DevFile | null = null;
  #readyCount = 0;

  constructor(
    readonly port: number,
    folder: string,
    options: GatewayOptions,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    this.dataDir = join(folder, 'data');
    this.#options = options;
  }

  get dev(): DevFile {
    if (this.#dev === null) throw new Error('this gateway wrote no dev.json');
    return this.#dev;
  }

  get parentPid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('the gateway does not run');
    return pid;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [entry], {
      cwd: '/',
      env: {
        PATH: process.env.PATH,
        TOLLGATE_DATA: this.dataDir,
        PORT: String(this.port),
        TOLLGATE_SHARDS: String(this.#options.shards ?? 2),
        ...this.#options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...this.#options.user,
    });
    if (child.pid === undefined) throw new Error('the gateway cannot be started');
    this.#child = child;
    this.#guard = guard(child.pid);
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => this.#onLine(line));
    }
    await this.#waitForReady(this.#readyCount + 1);
  }

  #onLine(line: string): void {
    if (line.startsWith('tollgate ready on ')) this.#readyCount += 1;
    this.logs.push(line);
    if (this.logs.length > LOG_LINES_MAX) this.logs.shift();
  }

  #tail(): string {
    return this.logs.slice(-SHOWN_LINES).join('\n');
  }

  async #waitForReady(count: number): Promise<void> {
    const timeoutMs = this.#options.readyTimeoutMs ?? READY_TIMEOUT_MS;
    const deadline = performance.now() + timeoutMs;
    while (this.#readyCount < count) {
      const { exitCode, signalCode } = this.#child ?? {};
      if (exitCode != null || signalCode != null) {
        throw new Error(`the gateway ended (${exitCode ?? signalCode}):\n${this.#tail()}`);
      }
      if (performance.now() > deadline) {
        throw new Error(`the gateway was not ready within ${timeoutMs} ms:\n${this.#tail()}`);
      }
      await sleep(5);
    }
    const text = await readFile(join(this.dataDir, 'dev.json'), 'utf8').catch(() => null);
    this.#dev = text === null ? null : (JSON.parse(text) as DevFile);
  }

  async mainPid(): Promise<number> {
    const rows = descendantsOf(this.parentPid, await listProcesses());
    const main = rows.find(({ command }) => command.includes('runtime/main.js'));
    if (main === undefined) throw new Error('there is no main process at this moment');
    return main.pid;
  }

  async postmasterPid(): Promise<number> {
    const text = await readFile(join(this.dataDir, 'pg', 'postmaster.pid'), 'utf8');
    return Number(text.split('\n')[0]);
  }

  async killMain(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const next = this.#readyCount + 1;
    kill(await this.mainPid(), signal);
    await this.#waitForReady(next);
  }

  async killParent(): Promise<void> {
    kill(this.parentPid, 'SIGKILL');
    await this.#waitForExit(STOP_TIMEOUT_MS);
  }

  async killAll(): Promise<void> {
    const pid = this.parentPid;
    const rows = descendantsOf(pid, await listProcesses());
    for (const each of [pid, ...rows.map((row) => row.pid)]) kill(each, 'SIGKILL');
    await this.#waitForExit(STOP_TIMEOUT_MS);
    await waitForEndOf(rows);
  }

  async stop(timeoutMs: number = STOP_TIMEOUT_MS): Promise<number | null> {
    kill(this.parentPid, 'SIGTERM');
    if (await this.#waitForExit(timeoutMs)) return this.#child?.exitCode ?? null;
    await this.killAll();
    return null;
  }

  async #waitForExit(timeoutMs: number): Promise<boolean> {
    const child = this.#child;
    if (child === null) return true;
    if (child.exitCode === null && child.signalCode === null) {
      const late = AbortSignal.timeout(timeoutMs);
      try {
        await once(child, 'exit', { signal: late });
      } catch {
        return false;
      }
    }
    this.#guard?.kill('SIGKILL');
    this.#guard = null;
    return true;
  }

  async close(): Promise<void> {
    try {
      if (this.#child?.exitCode === null && this.#child.signalCode === null) await this.killAll();
    } catch {
      // The guard ends it with this process.
    }
    // The database of a killed gateway may still be writing.
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 30, retryDelay: 50 });
  }
}

/** Starts a gateway on fresh data and waits until it is ready; `close` it in `after`. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-gateway-'));
  // As root the database user has to pass through it.
  await chmod(folder, 0o711);
  if (options.user !== undefined) await chown(folder, options.user.uid, options.user.gid);
  const gateway = new RunningGateway(await freePort(), folder, options);
  try {
    await gateway.start();
  } catch (error) {
    await gateway.close();
    throw error;
  }
  return gateway;
}
