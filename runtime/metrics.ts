// What this thread counts, as Prometheus metrics: a registry per thread, added up on request.
// Gauges of actors and mailboxes are read when somebody asks, so that they cost nothing before.
import { createServer, type Server } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import prometheus from 'prom-client';
import type { KindStatus } from './actor/contract.ts';
import { Histogram, type HistogramOptions } from './histogram.ts';

const { AggregatorRegistry, Counter, Gauge, Registry } = prometheus;

/** The registry of one thread as plain data, to be sent to the main thread. */
export type MetricsJson = prometheus.MetricObjectWithValues<prometheus.MetricValue<string>>[];

export interface Metrics {
  /** One finished exchange; `route` is the declared path, `method` whatever the client sent. */
  request(route: string, method: string, status: number, seconds: number): void;
  generation: {
    /** From the request's arrival to its first upstream event. */
    firstEvent(seconds: number): void;
    ended(status: string): void;
    detached(by: 1 | -1): void;
  };
  wallet: {
    /** One committed batch. */
    batch(length: number, seconds: number): void;
    /** One operation, such as `hold` and `held`. */
    operation(operation: string, outcome: string): void;
  };
  voice: {
    /** From the handshake to `session.ready`. */
    started(seconds: number): void;
    ended(reason: string): void;
    /** A handshake or a start was refused. */
    refused(code: string): void;
  };
  /** Live figures of voice sessions, read at each collection. */
  observeVoice(read: () => VoiceFigures): void;
  /** How many event streams are open, read at each collection. */
  observeStreams(read: () => number): void;
  /** Live figures of the actors of this thread, read at each collection. */
  observeActors(status: () => KindStatus[]): void;
  collect(): Promise<MetricsJson>;
  /** Stops measuring; for the end of a thread. */
  stop(): void;
}

/** Counters since the start of the thread; `lagMs` is the most that a client was behind. */
export interface VoiceFigures {
  sessions: number;
  framesIn: number;
  framesDropped: number;
  messagesOut: number;
  bargeIns: number;
  lagMs: number;
}

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const FIRST_EVENT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
const START_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2];
const BATCH_LENGTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const LOOP_RESOLUTION_MS = 10;

/** A method is what a client calls it, without bound: a label for each would be a leak. */
const METHODS: ReadonlySet<string> = new Set('GET HEAD POST PUT PATCH DELETE OPTIONS'.split(' '));

interface Registers {
  readonly all: InstanceType<typeof Registry>[];
  /** Beside the registry, and told in one list with what is in it. */
  readonly histograms: Histogram[];
}

function histogram({ histograms }: Registers, options: HistogramOptions): Histogram {
  const made = new Histogram(options);
  histograms.push(made);
  return made;
}

function createRequestMetrics(registers: Registers) {
  const total = cheapCounter(registers, 'tollgate_requests_total', 'Finished HTTP exchanges.', [
    'route',
    'method',
    'status',
  ]);
  const seconds = histogram(registers, {
    name: 'tollgate_request_seconds',
    help: 'From the arrival of a request to the end of its reply.',
    labelName: 'route',
    bounds: REQUEST_SECONDS,
  });
  return { total, seconds };
}

function createGenerationMetrics(registers: Registers) {
  const firstEvent = histogram(registers, {
    name: 'tollgate_first_event_seconds',
    help: 'From the arrival of a request to the first event of its upstream.',
    bounds: FIRST_EVENT_SECONDS,
  });
  const ended = cheapCounter(registers, 'tollgate_generations_total', 'Ended generations.', [
    'status',
  ]);
  const detached = new Gauge({
    name: 'tollgate_detached_generations',
    help: 'Generations that run on without their client.',
    registers: registers.all,
  });
  return { firstEvent, ended, detached };
}

function createWalletMetrics(registers: Registers) {
  const batchLength = histogram(registers, {
    name: 'tollgate_wallet_batch_length',
    help: 'Operations in one committed batch.',
    bounds: BATCH_LENGTHS,
  });
  const batchSeconds = histogram(registers, {
    name: 'tollgate_wallet_batch_seconds',
    help: 'Time to decide and commit one batch.',
    bounds: BATCH_SECONDS,
  });
  const operations = cheapCounter(
    registers,
    'tollgate_wallet_operations_total',
    'Wallet operations by what came of them.',
    ['operation', 'outcome'],
  );
  return { batchLength, batchSeconds, operations };
}

function createVoiceMetrics(registers: Registers): Metrics['voice'] {
  const started = histogram(registers, {
    name: 'tollgate_voice_start_seconds',
    help: 'From the handshake of a voice session to its session.ready.',
    bounds: START_SECONDS,
  });
  const ended = cheapCounter(registers, 'tollgate_voice_sessions_total', 'Ended voice sessions.', [
    'reason',
  ]);
  const refused = cheapCounter(
    registers,
    'tollgate_voice_refusals_total',
    'Handshakes and starts of voice sessions that were refused.',
    ['code'],
  );
  return { started: (seconds) => started.observe(seconds), ended, refused };
}

function watchVoice(registers: Registers, read: () => VoiceFigures): void {
  const sources = [
    ['tollgate_voice_sessions', 'Voice sessions that are open.', 'sessions'],
    ['tollgate_voice_frames', 'Frames of audio that clients sent.', 'framesIn'],
    ['tollgate_voice_frames_dropped', 'Frames that were dropped.', 'framesDropped'],
    ['tollgate_voice_messages_out', 'Messages of audio sent to clients.', 'messagesOut'],
    ['tollgate_voice_barge_ins', 'Interruptions by clients.', 'bargeIns'],
    ['tollgate_voice_lag_milliseconds', 'The most that a client was behind.', 'lagMs'],
  ] as const;
  for (const [name, help, field] of sources) {
    new Gauge({
      name,
      help,
      registers: registers.all,
      collect() {
        this.set(read()[field]);
      },
    });
  }
}

function watchStreams(registers: Registers, read: () => number): void {
  new Gauge({
    name: 'tollgate_open_streams',
    help: 'Event streams that are open.',
    registers: registers.all,
    collect() {
      this.set(read());
    },
  });
}

/** Counts by label values in a plain map, which is written out when somebody collects. */
function cheapCounter(
  registers: Registers,
  name: string,
  help: string,
  labelNames: readonly string[],
): (...values: (string | number)[]) => void {
  const counts = new Map<string, number>();
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: registers.all,
    collect() {
      this.reset();
      for (const [key, count] of counts) {
        const values = key.split('\n');
        this.inc(Object.fromEntries(labelNames.map((label, i) => [label, values[i] ?? ''])), count);
      }
    },
  });
  return (...values) => {
    const key = values.join('\n');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
}

/** Registers the gauges that are read from the actor system at each collection. */
function watchActors(registers: Registers, read: () => KindStatus[]): void {
  const sources = [
    ['tollgate_actors', 'Actors that live.', 'alive'],
    ['tollgate_mailbox_length', 'Messages that wait.', 'mailboxLength'],
    [
      'tollgate_actor_messages',
      'Messages handled since the start of the thread.',
      'messagesHandled',
    ],
    ['tollgate_actor_crashes', 'Crashes since the start of the thread.', 'crashes'],
    ['tollgate_actor_refusals', 'Messages refused by a full mailbox or population.', 'refused'],
  ] as const;
  for (const [name, help, field] of sources) {
    new Gauge({
      name,
      help,
      labelNames: ['kind'],
      registers: registers.all,
      collect() {
        this.reset();
        for (const row of read()) this.inc({ kind: row.kind }, row[field]);
      },
    });
  }
}

/** Event-loop delay of this thread since the last collection; returns how to stop measuring. */
function watchEventLoop(registers: Registers, thread: string): () => void {
  const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  delay.enable();
  new Gauge({
    name: 'tollgate_event_loop_delay_seconds',
    help: 'Delay of the event loop beyond its 10 ms sampling, since the last collection.',
    labelNames: ['thread', 'quantile'],
    registers: registers.all,
    collect() {
      const read = (nanoseconds: number) =>
        Math.max(0, nanoseconds / 1e9 - LOOP_RESOLUTION_MS / 1e3);
      this.set({ thread, quantile: '0.5' }, read(delay.percentile(50)));
      this.set({ thread, quantile: '0.99' }, read(delay.percentile(99)));
      this.set({ thread, quantile: '1' }, read(delay.max));
      delay.reset();
    },
  });
  return () => delay.disable();
}

/** The metrics of this thread; `thread` names it, such as `main` or `shard-0`. */
export function createMetrics(thread: string): Metrics {
  const registry = new Registry();
  const registers: Registers = { all: [registry], histograms: [] };
  const requests = createRequestMetrics(registers);
  const generations = createGenerationMetrics(registers);
  const wallets = createWalletMetrics(registers);
  const voice = createVoiceMetrics(registers);
  const stop = watchEventLoop(registers, thread);
  return {
    request(route, method, status, seconds) {
      requests.total(route, METHODS.has(method) ? method : 'other', status);
      requests.seconds.observe(seconds, route);
    },
    generation: {
      firstEvent: (seconds) => generations.firstEvent.observe(seconds),
      ended: generations.ended,
      detached: (by) => generations.detached.inc(by),
    },
    wallet: {
      batch(length, seconds) {
        wallets.batchLength.observe(length);
        wallets.batchSeconds.observe(seconds);
      },
      operation: (operation, outcome) => wallets.operations(operation, outcome),
    },
    voice,
    observeVoice: (read) => watchVoice(registers, read),
    observeStreams: (read) => watchStreams(registers, read),
    observeActors: (read) => watchActors(registers, read),
    async collect() {
      const others = await registry.getMetricsAsJSON();
      return [...registers.histograms.map((each) => each.toJson()), ...others];
    },
    stop,
  };
}

/** Adds the threads up and renders them as Prometheus text. */
export async function renderMetrics(threads: MetricsJson[]): Promise<string> {
  return AggregatorRegistry.aggregate(threads).metrics();
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface MetricsServerOptions {
  port: number;
  host: string;
  /** The registries of all threads; rejecting or hanging threads are the caller's to leave out. */
  collect(): Promise<MetricsJson[]>;
}

/** Serves `GET /metrics` and nothing else. Rejects when the port is taken. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const server: Server = createServer((request, response) => {
    const known = request.method === 'GET' && request.url?.split('?')[0] === '/metrics';
    if (!known) {
      response.writeHead(404).end();
      return;
    }
    options
      .collect()
      .then(renderMetrics)
      .then(
        (body) =>
          response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(body),
        () => response.writeHead(500).end(),
      );
  });
  server.requestTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    // Heard for as long as it listens: a connection that there is no file for is an error as well.
    server.on('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
