// The embedded database of a data folder, from the outside: start it, watch it, stop it.
// A server that dies alone is started again; tools attach to one that runs already.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareDataFolder } from '../folder.ts';
import { locateBinaries } from './binaries.ts';
import {
  type Cluster,
  createCluster,
  databaseName,
  databaseUrl,
  locateCluster,
} from './cluster.ts';
import { chooseIdentity } from './identity.ts';
import { findLockHolder, takeLock } from './lock.ts';
import {
  clearLeftovers,
  isRefusedProbe,
  isServedElsewhere,
  type Postmaster,
  probeDatabase,
  startPostmaster,
} from './postmaster.ts';

/** What is needed of a logger here; a pino logger is one. */
export interface DatabaseLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface DatabaseOptions {
  /** `TOLLGATE_DATA`; made if missing. */
  dataDir: string;
  log: DatabaseLog;
  /** Called once when the server cannot be kept running. */
  onFailure?: (error: Error) => void;
  /** Aborted: nobody waits for a start any more that has not ended. */
  signal?: AbortSignal;
  /** Server settings over our own, for throw-away databases of tests. */
  settings?: Record<string, string>;
  /** How long a start may neither serve nor recover, for tests of that. */
  readyTimeoutMs?: number;
}

export interface Database {
  /** `postgres://tollgate@localhost:5432/tollgate?host=<socket folder>`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A server that dies more often than this within the time is not started again. */
const RESTARTS_MAX = 10;
const RESTARTS_WITHIN_MS = 60_000;
/** What keeps it from starting again, such as memory that another one has, may pass. */
const RESTART_PAUSE_MS = 3_000;
/** After a kill its last sessions hold the shared memory for a moment; starting waits for them. */
const START_ATTEMPTS_MAX = 20;
const START_PAUSE_MS = 150;
const ATTACH_TIMEOUT_MS = 30_000;

function assertSupported(): void {
  if (process.platform === 'win32') {
    throw new Error('the embedded database needs a unix system: set DATABASE_URL');
  }
}

async function openCluster(dataDir: string): Promise<Cluster> {
  assertSupported();
  const identity = await chooseIdentity(join(dataDir, 'pg'));
  // An unreachable data folder is found first: then nothing is copied in vain.
  const place = await locateCluster(dataDir, identity);
  const binaries = await locateBinaries(identity, join(dataDir, 'postgres'));
  await createCluster(place, binaries);
  return { ...place, binaries };
}

function logLine(log: DatabaseLog, line: string): void {
  const isTold = /(WARNING|FATAL|PANIC): {2}/.test(line) && !isRefusedProbe(line);
  const level = isTold ? 'warn' : 'debug';
  log[level]({ source: 'postgres' }, line);
}

/** Starts the server, waiting out the remains of one that was killed. */
async function launch(cluster: Cluster, options: DatabaseOptions): Promise<Postmaster> {
  const { log, settings = {}, signal, readyTimeoutMs } = options;
  const onRecovering = () =>
    log.warn({}, 'the database recovers what a crash left: the start waits for it');
  const limits = { signal, readyTimeoutMs, onRecovering };
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    if (await clearLeftovers(cluster)) {
      log.warn({}, 'stopped the database of an earlier start on this data folder');
    }
    try {
      return await startPostmaster(cluster, settings, (line) => logLine(log, line), limits);
    } catch (error) {
      const transient = error instanceof Error && /still in use|lock file/.test(error.message);
      if (!transient || attempt === START_ATTEMPTS_MAX) throw error;
      await sleep(START_PAUSE_MS);
    }
  }
}

/**
 * Neither lock nor server see the processes of another container, and two servers on one folder
 * destroy each other's data. Asked before a lock is taken that looks left behind.
 */
async function assertUnserved(dataDir: string): Promise<void> {
  assertSupported();
  const place = await locateCluster(dataDir, await chooseIdentity(join(dataDir, 'pg')));
  if (!(await isServedElsewhere(place))) return;
  throw new Error(`TOLLGATE_DATA (${dataDir}) is in use by another container`);
}

interface Supervised {
  stop(): Promise<void>;
}

/** Starts the server again whenever it ends unasked, within bounds. */
async function supervise(cluster: Cluster, options: DatabaseOptions): Promise<Supervised> {
  const { log } = options;
  const stopping = new AbortController();
  let current = await launch(cluster, options);
  const endings: number[] = [];
  const isTooOften = () => {
    const now = performance.now();
    endings.push(now);
    return endings.filter((at) => at > now - RESTARTS_WITHIN_MS).length > RESTARTS_MAX;
  };
  const relaunch = async (): Promise<Postmaster> => {
    for (;;) {
      try {
        return await launch(cluster, options);
      } catch (error) {
        const isOver = stopping.signal.aborted || options.signal?.aborted === true;
        if (isOver || isTooOften()) throw error;
        log.error({ err: error }, 'the embedded database cannot be started: trying again');
        await sleep(RESTART_PAUSE_MS, undefined, { signal: stopping.signal });
      }
    }
  };
  const watch = async () => {
    for (;;) {
      await current.ended;
      if (stopping.signal.aborted) return;
      if (isTooOften()) throw new Error('the embedded database keeps failing');
      log.error({}, 'the embedded database ended by itself: starting it again');
      current = await relaunch();
      if (stopping.signal.aborted) return current.stop();
    }
  };
  const watched = watch().catch((error: Error) => {
    if (!stopping.signal.aborted) options.onFailure?.(error);
  });
  const stop = async () => {
    stopping.abort();
    await current.stop();
    await watched;
  };
  return { stop };
}

/**
 * Starts the database of `dataDir` and resolves when it serves: about half a second the first
 * time, tens of milliseconds after. Throws with one clear line, also when another process holds
 * the folder. It ends with this process, however that ends.
 */
export async function startDatabase(options: DatabaseOptions): Promise<Database> {
  const dataDir = await prepareDataFolder(options.dataDir);
  const lockPath = join(dataDir, 'lock');
  await assertUnserved(dataDir);
  const lock = await takeLock(lockPath);
  if (lock === null) {
    const holder = await findLockHolder(lockPath);
    throw new Error(`TOLLGATE_DATA (${dataDir}) is in use by process ${holder ?? 'unknown'}`);
  }
  try {
    const cluster = await openCluster(dataDir);
    const supervised = await supervise(cluster, options);
    const stop = async () => {
      await supervised.stop();
      await lock.release();
    };
    return { url: databaseUrl(cluster), stop };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * For tools beside a running server: uses its database, and leaves it running; without one starts
 * the database for as long as the tool needs it. Throws with one clear line.
 */
export async function attachDatabase(options: DatabaseOptions): Promise<Database> {
  const dataDir = await prepareDataFolder(options.dataDir);
  const deadline = performance.now() + ATTACH_TIMEOUT_MS;
  while ((await findLockHolder(join(dataDir, 'lock'))) !== null) {
    const place = await locateCluster(dataDir, await chooseIdentity(join(dataDir, 'pg')));
    const found = await probeDatabase(place, databaseName);
    if (found.state === 'serving') return { url: databaseUrl(place), stop: async () => {} };
    if (performance.now() > deadline) {
      throw new Error(`the database of the server on ${dataDir} does not answer`);
    }
    await sleep(100);
  }
  return startDatabase(options);
}
