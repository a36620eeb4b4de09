// Starts the PostgreSQL server under a keeper: a tiny shell in a session of its own that holds a
// pipe from us. When the pipe closes, however we ended, the keeper asks the server to stop.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, type ClusterPlace, databaseName, databaseUser } from './cluster.ts';
import { childEnvironment, runCommand } from './identity.ts';
import { type ProbeResult, probe } from './probe.ts';

export interface Postmaster {
  /** Resolves when the keeper has ended, and with it the server. */
  readonly ended: Promise<void>;
  /** Fast shutdown: open transactions are rolled back, a checkpoint is written. */
  stop(): Promise<void>;
}

/** What a start may take, and what it may wait for. */
export interface StartLimits {
  /** Until the server answers that it serves, or that it recovers. Default: a minute. */
  readyTimeoutMs?: number | undefined;
  /** Aborted: nobody waits for the start any more. */
  signal?: AbortSignal | undefined;
  /** Called once when the server has told for a while that it recovers from a crash. */
  onRecovering(): void;
}

const READY_TIMEOUT_MS = 60_000;
/** A gigabyte of log at 0.6 MB/s. Who ends a recovery that gets on begins it anew. */
const RECOVERY_TIMEOUT_MS = 30 * 60_000;
const PROBE_TIMEOUT_MS = 2_000;
const POLL_MS = 4;
/** Each look is a process of a server that has better things to do. */
const RECOVERY_POLL_MS = 100;
const RECOVERY_TOLD_MS = 3_000;
const STOP_TIMEOUT_MS = 20_000;
const OUTPUT_LINES_MAX = 20;

/**
 * Descriptor 3 is our pipe. Only the watcher reads it; the server must not hold it open. A server
 * that does not stop in half a minute, such as a suspended one, is killed: it recovers next time.
 */
const KEEPER = `
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
{
  read -r _ <&3
  kill -INT "$server"
  seconds=0
  while [ "$seconds" -lt 30 ] && kill -0 "$server"; do
    sleep 1
    seconds=$((seconds + 1))
  done
  kill -KILL "$server"
} 2>/dev/null &
watcher=$!
exec 3<&-
wait "$server"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
`;

/** Given on the command line, so that no file of an older version can contradict them. */
const SETTINGS: Record<string, string> = {
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '128MB',
  effective_cache_size: '512MB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_buffers: '16MB',
  max_wal_size: '1GB',
  min_wal_size: '128MB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  // One user of many small rows: worker processes for reads cost more than they bring.
  io_method: 'sync',
  jit: 'off',
  autovacuum: 'on',
  autovacuum_naptime: '20s',
  autovacuum_vacuum_scale_factor: '0.05',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // Statements and row values must not reach a log: only what the server says about itself.
  log_min_messages: 'log',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  restart_after_crash: 'on',
};

function serverCommand(cluster: Cluster, overrides: Record<string, string>): string[] {
  const settings = {
    ...SETTINGS,
    ...overrides,
    unix_socket_directories: cluster.socketDir,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return [cluster.binaries.postgres, '-D', cluster.folder, ...flags];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Whether a process is a living server on this very folder; a number may have a new owner. */
async function isServer(pid: number, folder: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform === 'linux') {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return command.includes(`\0-D\0${folder}\0`);
  }
  const command = await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  return command.output.includes(`-D ${folder} `);
}

/** The process id in postmaster.pid, if that server lives. */
async function findRunning({ folder }: ClusterPlace): Promise<number | null> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  return (await isServer(pid, folder)) ? pid : null;
}

async function waitForEnd(pid: number, folder: string, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isServer(pid, folder)) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Fast, then immediate (recovers at the next start), then by force. */
async function endServer(pid: number, folder: string): Promise<void> {
  const steps = [
    { signal: 'SIGINT', timeoutMs: STOP_TIMEOUT_MS },
    { signal: 'SIGQUIT', timeoutMs: 5_000 },
    { signal: 'SIGKILL', timeoutMs: 5_000 },
  ] as const;
  for (const { signal, timeoutMs } of steps) {
    if (!(await isServer(pid, folder))) return;
    process.kill(pid, signal);
    if (await waitForEnd(pid, folder, timeoutMs)) return;
  }
  throw new Error(`the database process ${pid} of an earlier start cannot be stopped`);
}

/**
 * Ends a server that an earlier start left behind, usually while its keeper is already stopping
 * it, and removes the files whose number now belongs to some other process: containers give the
 * same numbers again, and where all runs as one user the server takes any living one for itself.
 */
export async function clearLeftovers(cluster: ClusterPlace): Promise<boolean> {
  const pid = await findRunning(cluster);
  if (pid !== null) await endServer(pid, cluster.folder);
  else {
    const files = [join(cluster.folder, 'postmaster.pid'), `${cluster.socketPath}.lock`];
    await Promise.all(files.map((file) => rm(file, { force: true })));
  }
  return pid !== null;
}

export function probeDatabase(cluster: ClusterPlace, database: string): Promise<ProbeResult> {
  const { socketPath } = cluster;
  return probe({ socketPath, user: databaseUser, database, timeoutMs: PROBE_TIMEOUT_MS });
}

/** What a server says of our own probes while it is not ready: no reason for anything. */
export function isRefusedProbe(line: string): boolean {
  return /the database system is|database "\w+" does not exist/.test(line);
}

/** A server answers whose process is not to be seen, as where two containers have one folder. */
export async function isServedElsewhere(place: ClusterPlace): Promise<boolean> {
  if ((await findRunning(place)) !== null) return false;
  return (await probeDatabase(place, databaseName)).state !== 'absent';
}

type ServerState = 'serving' | 'recovering' | 'absent';

/** Whether sessions can be opened; the database itself is made on the first start. */
async function stateOf(cluster: Cluster): Promise<ServerState> {
  const result = await probeDatabase(cluster, databaseName);
  if (result.state === 'serving') return 'serving';
  if (result.state !== 'refused') return 'absent';
  // 57P03 cannot_connect_now: it replays what a crash left.
  if (result.sqlState === '57P03') return 'recovering';
  // 3D000 invalid_catalog_name: a new cluster, or one whose first start was cut short.
  if (result.sqlState !== '3D000') return 'absent';
  const target = {
    socketPath: cluster.socketPath,
    user: databaseUser,
    database: 'postgres',
    timeoutMs: READY_TIMEOUT_MS,
  };
  const created = await probe(target, `create database ${databaseName}`);
  if (created.state === 'serving') return 'serving';
  const reason = created.state === 'refused' ? created.message : created.reason;
  throw new Error(`the database '${databaseName}' cannot be created: ${reason}`);
}

function launchKeeper(cluster: Cluster, command: string[]): ChildProcess {
  return spawn('/bin/sh', ['-c', KEEPER, 'tollgate-keeper', ...command], {
    cwd: '/',
    env: childEnvironment,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    ...cluster.identity,
  });
}

/** Waits until the server serves. False: it ended, is not wanted any more, or takes too long. */
async function waitUntilServing(
  cluster: Cluster,
  isOver: () => boolean,
  { readyTimeoutMs = READY_TIMEOUT_MS, signal, onRecovering }: StartLimits,
): Promise<boolean> {
  const startedAt = performance.now();
  let deadline = startedAt + readyTimeoutMs;
  let isTold = false;
  while (!isOver()) {
    const state = await stateOf(cluster);
    if (state === 'serving') return true;
    const isRecovering = state === 'recovering';
    const now = performance.now();
    if (isRecovering && now - startedAt < RECOVERY_TIMEOUT_MS) deadline = now + readyTimeoutMs;
    // One that says nothing yet would not hear that it is to stop either.
    if (now >= deadline || (isRecovering && signal?.aborted === true)) return false;
    const isLong = isRecovering && now - startedAt > RECOVERY_TOLD_MS;
    if (isLong && !isTold) onRecovering();
    isTold ||= isLong;
    await sleep(isLong ? RECOVERY_POLL_MS : POLL_MS);
  }
  return false;
}

/**
 * Starts the server and resolves when it serves. `onLine` gets what it writes. Rejects with its
 * last line when it ends first, or when it neither serves nor recovers within a minute.
 */
export async function startPostmaster(
  cluster: Cluster,
  overrides: Record<string, string>,
  onLine: (line: string) => void,
  limits: StartLimits,
): Promise<Postmaster> {
  const keeper = launchKeeper(cluster, serverCommand(cluster, overrides));
  const lines: string[] = [];
  let over = false;
  // Writing to a keeper that is gone must not be an uncaught error.
  keeper.stdin?.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    keeper.once('error', (error) => {
      lines.push(error.message);
      over = true;
      resolve();
    });
    keeper.once('exit', () => {
      over = true;
      resolve();
    });
  });
  if (keeper.stderr !== null) {
    createInterface({ input: keeper.stderr }).on('line', (line) => {
      lines.push(line);
      if (lines.length > OUTPUT_LINES_MAX) lines.shift();
      onLine(line);
    });
  }
  const stop = async () => {
    keeper.stdin?.end();
    const deadline = sleep(STOP_TIMEOUT_MS, false, { ref: false });
    const stopped = await Promise.race([ended.then(() => true), deadline]);
    if (!stopped) await clearLeftovers(cluster);
    await ended;
  };
  if (await waitUntilServing(cluster, () => over, limits)) return { ended, stop };
  // What the server said last may still be in the pipe.
  await sleep(20);
  await stop();
  const told = lines.filter((line) => !isRefusedProbe(line));
  const said = told.filter((line) => /FATAL|PANIC/.test(line)).at(-1) ?? told.at(-1);
  throw new Error(`the embedded database did not start: ${said ?? 'it said nothing'}`);
}
