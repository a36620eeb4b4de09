// What the kernel counts on this thread, and how the threads are added up as Prometheus text. Each
// domain declares its own in the registry.
import { createServer, type Server } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import prometheus from 'prom-client';
import type { KindStatus } from './actor/contract.ts';
import { type MetricsJson, MetricsRegistry } from './metrics-registry.ts';

const { AggregatorRegistry, Gauge, Registry } = prometheus;

export interface Metrics {
  /** Where a domain declares what it counts. */
  readonly registry: MetricsRegistry;
  /** One finished exchange; `route` is the declared path, `method` whatever the client sent. */
  request(route: string, method: string, status: number, seconds: number): void;
  /** How many event streams are open, read at each collection. */
  observeStreams(read: () => number): void;
  /** Live figures of the actors of this thread, read at each collection. */
  observeActors(status: () => KindStatus[]): void;
  collect(): Promise<MetricsJson>;
  /** Stops measuring; for the end of a thread. */
  stop(): void;
}

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const LOOP_RESOLUTION_MS = 10;

/** A method is what a client calls it, without bound: a label for each would be a leak. */
const METHODS: ReadonlySet<string> = new Set('GET HEAD POST PUT PATCH DELETE OPTIONS'.split(' '));

function createRequestMetrics(registry: MetricsRegistry) {
  const total = registry.counter('tollgate_requests_total', 'Finished HTTP exchanges.', [
    'route',
    'method',
    'status',
  ]);
  const seconds = registry.histogram({
    name: 'tollgate_request_seconds',
    help: 'From the arrival of a request to the end of its reply.',
    labelName: 'route',
    bounds: REQUEST_SECONDS,
  });
  return { total, seconds };
}

/** Registers the gauges that are read from the actor system at each collection. */
function watchActors(registry: MetricsRegistry, read: () => KindStatus[]): void {
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
      registers: registry.all,
      collect() {
        this.reset();
        for (const row of read()) this.inc({ kind: row.kind }, row[field]);
      },
    });
  }
}

/** Event-loop delay of this thread since the last collection; returns how to stop measuring. */
function watchEventLoop(registry: MetricsRegistry, thread: string): () => void {
  const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  delay.enable();
  new Gauge({
    name: 'tollgate_event_loop_delay_seconds',
    help: 'Delay of the event loop beyond its 10 ms sampling, since the last collection.',
    labelNames: ['thread', 'quantile'],
    registers: registry.all,
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
  const registry = new MetricsRegistry();
  const requests = createRequestMetrics(registry);
  const stop = watchEventLoop(registry, thread);
  return {
    registry,
    request(route, method, status, seconds) {
      requests.total(route, METHODS.has(method) ? method : 'other', status);
      requests.seconds.observe(seconds, route);
    },
    observeStreams: (read) =>
      registry.watch([['tollgate_open_streams', 'Event streams that are open.', read]]),
    observeActors: (read) => watchActors(registry, read),
    collect: () => registry.collect(),
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
