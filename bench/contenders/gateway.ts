// The real gateway: started as a user starts it, in dev mode on its own data folder, with
// everything on. Its cost is that of its main process; the parent, the simulator and PostgreSQL
// stand apart.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Child, freePort, startChild } from '../child.ts';
import { CHAT_PATH, type Contender } from '../contender.ts';
import { commandOf, descendantsOf, postgresCpuMicros } from '../proc.ts';

const START_MS = 60_000;
const PROFILES_MS = 3_000;
const ALIAS = 'svc-sim-chat';

export interface Gateway extends Contender {
  dataPath: string;
  simulatorPort: number;
}

export interface GatewayOptions {
  shards: number;
  /** Where its threads leave their CPU profiles; absent: not profiled. */
  profileFolder?: string;
  /** Where its shards note how long their loops were held up; absent: they do not. */
  blocksFolder?: string;
  /** What TOLLGATE_CONFIG declares beside the development catalog; absent: nothing. */
  catalog?: object;
  /** Variables of its environment beside those that all have. */
  environment?: Record<string, string>;
  /** Of GET /metrics; absent: off. */
  metricsPort?: number;
}

/** A fresh data folder; remove it with `removeDataFolder`. */
export function makeDataFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'tollgate-bench-data-'));
}

export function removeDataFolder(dataPath: string): Promise<void> {
  return rm(dataPath, { recursive: true, force: true, maxRetries: 5 });
}

/** Starts the process on a data folder without waiting for it. */
export function spawnGateway(dataPath: string, port: number, options: GatewayOptions): Child {
  const path = fileURLToPath(new URL('../../runtime/start.js', import.meta.url));
  return startChild(process.execPath, [path], {
    env: {
      HOST: '127.0.0.1',
      PORT: String(port),
      TOLLGATE_DATA: dataPath,
      TOLLGATE_MODE: 'dev',
      TOLLGATE_SHARDS: String(options.shards),
      ...(options.catalog === undefined ? {} : { TOLLGATE_CONFIG: catalogPath(dataPath) }),
      ...(options.metricsPort === undefined
        ? {}
        : { TOLLGATE_METRICS_PORT: String(options.metricsPort) }),
      ...options.environment,
      ...preloadEnvironment(options),
    },
  });
}

/** Beside the data folder, which takes no files of others. */
function catalogPath(dataPath: string): string {
  return `${dataPath}-catalog.json`;
}

/** Starts the gateway on a fresh data folder and waits until it is ready. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const dataPath = await makeDataFolder();
  const port = await freePort();
  if (options.catalog !== undefined) {
    await writeFile(catalogPath(dataPath), JSON.stringify(options.catalog));
  }
  const child = spawnGateway(dataPath, port, options);
  const { profileFolder } = options;
  const stop = async (): Promise<void> => {
    if (profileFolder !== undefined) await collectProfiles(profileFolder);
    await child.stop();
    await removeDataFolder(dataPath);
    await rm(catalogPath(dataPath), { force: true });
  };
  try {
    await child.line(/tollgate ready on/, START_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  if (profileFolder !== undefined) await writeFile(join(profileFolder, 'start'), '');
  const dev = JSON.parse(await readFile(join(dataPath, 'dev.json'), 'utf8')) as {
    api_key: string;
    simulator_url: string;
  };
  const mainPid = findMain(child.pid);
  return {
    name: 'gateway',
    description: `tollgate, everything on, ${options.shards} shards`,
    dataPath,
    simulatorPort: Number(new URL(dev.simulator_url).port),
    port,
    path: CHAT_PATH,
    model: ALIAS,
    headers: { authorization: `Bearer ${dev.api_key}` },
    pids: () => [mainPid],
    databaseCpuMicros: () => postgresCpuMicros(dataPath),
    stop,
  };
}

function preloadEnvironment(options: GatewayOptions): Record<string, string> {
  const preloads = [
    { file: '../load/profiler.js', folder: options.profileFolder },
    { file: '../load/blocks.js', folder: options.blocksFolder },
  ];
  const imports = preloads.flatMap(({ file, folder }) => {
    if (folder === undefined) return [];
    const module = new URL(file, import.meta.url);
    module.searchParams.set('folder', folder);
    return [`--import ${module.href}`];
  });
  return imports.length === 0 ? {} : { NODE_OPTIONS: imports.join(' ') };
}

/** The threads look for the file ten times a second, and write while the process lives. */
async function collectProfiles(folder: string): Promise<void> {
  await writeFile(join(folder, 'stop'), '');
  await sleep(PROFILES_MS);
}

/** The gateway's main process: the descendant that runs runtime/main.js, or the child itself. */
function findMain(pid: number): number {
  const found = descendantsOf(pid).find((each) => /runtime\/main\.js/.test(commandOf(each)));
  return found ?? pid;
}
