// The small parent that owns the children: database, simulator (dev mode) and the main process.
// It does no work itself, so a crash of the main process, however bad, leaves it able to restart.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { type Config, environmentWith, withDnsServers, withPort } from './config.ts';
import { type Database, startDatabase } from './embedded/database.ts';
import { prepareDataFolder } from './folder.ts';
import { type Boot, listenToMain, sendBoot, sendPing, sendStop } from './launch.ts';
import { createKernelLimits, databaseConnectionsMax, type KernelLimits } from './limits.ts';
import type { Logger } from './log.ts';
import { freePort } from './port.ts';
import { loadMasterKey } from './secret.ts';
import { supervise } from './supervised.ts';

export interface ParentOptions {
  config: Config;
  log: Logger;
  /** Scripts of the children; tests put others in their place. */
  mainPath: string;
  simulatorPath: string;
  /** Aborted by the signals that stop the server. */
  stopSignal: AbortSignal;
  /** Aborted when the user insists: no drain. */
  forceSignal: AbortSignal;
  /** Shorter waits, for tests of the parent itself. */
  limits?: Partial<KernelLimits['process']>;
}

/** How it ended: the exit code, and one clear line when something went wrong. */
export interface ParentEnd {
  code: 0 | 1;
  message: string | null;
}

/**
 * An old generation may double before it is collected. Left to itself V8 lets a small one grow by
 * 8 MB, and counts buffers among it that are dead but not yet swept: where sound or streams bring
 * 50 MB of them a second, that was a whole collection each 0.2 s (see README.md).
 */
const HEAP_GROWTH = '--heap-growing-percent=100';

/**
 * A property is read quickly from up to eight kinds of objects at one place, not four: the events
 * of a stream are a union of seven, and a process takes all formats and families (README.md).
 */
const SHAPES_AT_A_PLACE = '--max-valid-polymorphic-map-count=8';

const SIMULATOR_TIMEOUT_MS = 10_000;
const SIMULATOR_STOP_MS = 2_000;

type Finish = (end: ParentEnd) => void;
type BootParts = Omit<Boot, 'instanceId' | 'previousInstanceIds'>;

function onceAborted(signal: AbortSignal, listener: () => void): void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
}

/**
 * A shell outside our session that ends the main process some seconds after we are gone: one whose
 * event loop is stuck cannot notice by itself, and would keep the port.
 */
function guardAgainstOrphan(child: ChildProcess, graceMs: number): void {
  const script = `read -r _; sleep ${Math.ceil(graceMs / 1_000)}; kill -9 ${child.pid} 2>/dev/null`;
  let guard: ChildProcess;
  try {
    guard = spawn('/bin/sh', ['-c', script], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  } catch {
    // Without memory for it: one without a guard is better than none.
    return;
  }
  guard.on('error', () => undefined);
  guard.stdin?.on('error', () => undefined);
  child.once('exit', () => guard.kill('SIGKILL'));
}

/**
 * Kills a child that leaves too many pings in a row unanswered; returns what to call at every sign
 * of life. Pings are counted, not time: a machine that stands still sends none.
 */
function watchPulse(child: ChildProcess, limits: KernelLimits, log: Logger): () => void {
  const unansweredMax = Math.ceil(limits.process.hungMs / limits.process.pingMs);
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered >= unansweredMax) {
      clearInterval(timer);
      log.error({}, 'the main process gives no sign of life: killing it');
      child.kill('SIGKILL');
      return;
    }
    unanswered += 1;
    sendPing(child);
  }, limits.process.pingMs);
  child.once('exit', () => clearInterval(timer));
  return () => {
    unanswered = 0;
  };
}

interface MainProcess {
  /** Given once, when everything else is up; every later main process gets it at once. */
  boot(parts: BootParts): void;
  stop(): Promise<void>;
}

/** Forked before the database is up: its modules load meanwhile. */
function startMain(options: ParentOptions, limits: KernelLimits, finish: Finish): MainProcess {
  const { log } = options;
  const previousInstanceIds: string[] = [];
  let instanceId = '';
  let parts: BootParts | null = null;
  let everReady = false;
  let failure: string | null = null;
  let hung: NodeJS.Timeout | undefined;
  const send = (child: ChildProcess) => {
    if (parts === null) return;
    sendBoot(child, { ...parts, instanceId, previousInstanceIds });
    // Only now it can get ready: what it waited for before is the database, which may recover.
    hung = setTimeout(() => child.kill('SIGKILL'), limits.process.readyTimeoutMs);
  };
  const launch = () => {
    if (instanceId !== '') previousInstanceIds.push(instanceId);
    instanceId = `ins_${randomBytes(12).toString('hex')}`;
    failure = null;
    const child = fork(options.mainPath, {
      detached: true,
      serialization: 'advanced',
      execArgv: [...process.execArgv, HEAP_GROWTH, SHAPES_AT_A_PLACE],
      // uWebSockets.js reads it once, when the process begins.
      env: environmentWith({ UWS_HTTP_MAX_HEADERS_SIZE: String(limits.http.headerBytesMax) }),
    });
    child.once('exit', () => clearTimeout(hung));
    guardAgainstOrphan(child, limits.process.stopGraceMs);
    let alive: () => void = () => undefined;
    listenToMain(child, {
      alive: () => alive(),
      ready: () => {
        clearTimeout(hung);
        alive = watchPulse(child, limits, log);
        everReady = true;
      },
      failed: (message) => {
        failure = message;
        if (!everReady) finish({ code: 1, message });
      },
    });
    send(child);
    return child;
  };
  const supervised = supervise({
    launch,
    onCrash: (how) => log.error({ how, reason: failure }, 'the main process ended: restarting it'),
    hasToldWhy: () => failure !== null,
    onGiveUp: (how) => {
      const reason = failure ?? `its main process keeps ending (${how})`;
      finish({ code: 1, message: reason });
    },
    restartsMax: limits.process.restartsMax,
    restartsWithinMs: limits.process.restartsWithinMs,
  });
  const boot = (given: BootParts) => {
    parts = given;
    const child = supervised.current();
    if (child !== null) send(child);
  };
  const stop = async () => {
    // Without its configuration it serves nobody, so there is nothing to drain.
    if (parts === null) supervised.current()?.kill('SIGKILL');
    onceAborted(options.forceSignal, () => supervised.current()?.kill('SIGKILL'));
    const timeoutMs = limits.process.drainMs + limits.process.stopGraceMs;
    const drained = await supervised.stop(sendStop, timeoutMs);
    if (!drained) log.error({}, 'the main process did not stop in time and was killed');
  };
  return { boot, stop };
}

interface SimulatorAddress {
  url: string;
  /** Its DNS server, `ip:port`. */
  dnsServers: string[];
}

interface Simulator {
  address: Promise<SimulatorAddress>;
  stop(): Promise<unknown>;
}

/** A restarted simulator keeps its port, so that the main process need not know. */
function startSimulator(options: ParentOptions, limits: KernelLimits): Simulator {
  let port = 0;
  let dnsPort = 0;
  let resolveAddress: (address: SimulatorAddress) => void;
  let rejectAddress: (error: Error) => void;
  const address = new Promise<SimulatorAddress>((resolve, reject) => {
    resolveAddress = resolve;
    rejectAddress = reject;
  });
  const late = setTimeout(
    () => rejectAddress(new Error('the upstream simulator did not start within 10 s')),
    SIMULATOR_TIMEOUT_MS,
  );
  const launch = () => {
    const ports = ['--port', String(port), '--dns-port', String(dnsPort)];
    const child = fork(options.simulatorPath, ports, {
      detached: true,
      // It needs nothing of ours, least of all our secrets; its own ready line would confuse.
      env: {},
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.on('message', (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('port' in message)) return;
      port = Number(message.port);
      if ('dnsPort' in message) dnsPort = Number(message.dnsPort);
      clearTimeout(late);
      const dnsServers = dnsPort === 0 ? [] : [`127.0.0.1:${dnsPort}`];
      resolveAddress({ url: `http://127.0.0.1:${port}`, dnsServers });
    });
    return child;
  };
  const supervised = supervise({
    launch,
    onCrash: (how) => options.log.error({ how }, 'the upstream simulator ended: restarting it'),
    onGiveUp: (how) => {
      options.log.error({ how }, 'the upstream simulator keeps ending and stays down');
      rejectAddress(new Error(`the upstream simulator does not start (${how})`));
    },
    restartsMax: limits.process.restartsMax,
    restartsWithinMs: limits.process.restartsWithinMs,
  });
  const stop = () => {
    clearTimeout(late);
    return supervised.stop((child) => child.kill('SIGTERM'), SIMULATOR_STOP_MS);
  };
  return { address, stop };
}

/** The configured server, or the embedded one. */
async function openDatabase(
  options: ParentOptions,
  limits: KernelLimits,
  finish: Finish,
  signal: AbortSignal,
): Promise<Database> {
  const { config, log } = options;
  if (config.databaseUrl !== null) return { url: config.databaseUrl, stop: async () => {} };
  const connections = databaseConnectionsMax(limits, config.shards);
  return startDatabase({
    dataDir: config.dataDir,
    log,
    signal,
    settings: { max_connections: String(connections) },
    onFailure: (error) => finish({ code: 1, message: error.message }),
  });
}

/**
 * Runs the server until it is asked to stop or cannot go on. Never rejects for an expected
 * reason: what keeps it from starting is in the result, as one line.
 */
export async function runParent(options: ParentOptions): Promise<ParentEnd> {
  let finish: Finish = () => undefined;
  const ended = new Promise<ParentEnd>((resolve) => {
    finish = resolve;
  });
  onceAborted(options.stopSignal, () => finish({ code: 0, message: null }));
  const fail = (error: unknown) =>
    finish({ code: 1, message: error instanceof Error ? error.message : String(error) });

  let { config } = options;
  let dataDir: string;
  try {
    dataDir = await prepareDataFolder(config.dataDir);
    if (config.port === 0) config = withPort(config, await freePort(config.host));
  } catch (error) {
    fail(error);
    return ended;
  }
  const configured = createKernelLimits(config);
  const limits = { ...configured, process: { ...configured.process, ...options.limits } };
  const dev = config.mode === 'dev';
  const abandoned = new AbortController();
  const withFolder = { ...options, config: { ...config, dataDir } };
  const database = openDatabase(withFolder, limits, finish, abandoned.signal);
  const main = startMain(options, limits, finish);
  const simulator = dev ? startSimulator(options, limits) : null;
  Promise.all([database, simulator?.address ?? null, loadMasterKey(dataDir, config.secret)]).then(
    ([{ url }, simulated, masterKey]) =>
      main.boot({
        config: withDnsServers({ ...config, dataDir }, simulated?.dnsServers ?? []),
        masterKey,
        databaseUrl: url,
        simulatorUrl: simulated?.url ?? null,
        // Any number of processes may share a server that we did not start.
        singleProcess: config.databaseUrl === null,
      }),
    fail,
  );
  const end = await ended;
  await main.stop();
  await simulator?.stop();
  abandoned.abort();
  const opened = await database.catch(() => null);
  await opened?.stop();
  return end;
}
