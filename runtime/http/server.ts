// One uWebSockets.js app: listens, counts, drains, closes. Several threads may listen on the same
// port; the kernel shares it among them (SO_REUSEPORT). A thread must not end before `close` has:
// the native app would abort the whole process.
import {
  App,
  SSLApp,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { fixedLimits } from '../limits.ts';
import { createAddressReader } from './address.ts';
import { createBodyReader } from './body.ts';
import { createCors } from './cors.ts';
import { registerRoutes } from './dispatch.ts';
import type { HttpExchange } from './exchange.ts';
import { createFileTable, type FileLimits } from './file/sending.ts';
import type { HttpLogger, Kernel } from './kernel.ts';
import type { Route } from './route.ts';
import { createStreamTable } from './stream.ts';
import { createTicker } from './ticker.ts';

export interface HttpLimits extends FileLimits {
  /** From the first byte of a body to its last. */
  bodyDeadlineMs: number;
  /** Of all bodies of this thread that come or wait to be parsed; half of it for one tenant. */
  bodyBytesTotalMax: number;
  /** What one slow stream may leave waiting before it is dropped. */
  streamBufferBytesMax: number;
  /** Resolution of deadlines and keep-alives. */
  tickMs: number;
}

export const defaultHttpLimits: Readonly<HttpLimits> = {
  bodyDeadlineMs: 30_000,
  bodyBytesTotalMax: 256 * 1024 * 1024,
  streamBufferBytesMax: 256 * 1024,
  tickMs: 250,
  fileStalledMs: fixedLimits.http.stalledMs,
  fileReadMs: fixedLimits.file.readMs,
};

/** What one finished exchange looked like; `route` is null where no route was found. */
export interface RequestSample {
  route: string | null;
  method: string;
  /** 499: the client went away before a reply. */
  status: number;
  durationMs: number;
  requestId: string;
}

export interface HttpServerOptions<Access, Caller, Services>
  extends Pick<
    Kernel<Access, Caller, Services>,
    'authorize' | 'tenantOf' | 'renderProblem' | 'renderProblemPage' | 'explain' | 'services'
  > {
  routes: readonly Route<Access, Caller, Services>[];
  logger: HttpLogger;
  onRequest?: (sample: RequestSample) => void;
  /** The origin that `web` routes admit; null: none. */
  webOrigin: string | null;
  /** Response headers that scripts of other origins may read. */
  exposedHeaders: readonly string[];
  /** Addresses and CIDR blocks whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[];
  tls?: { certPath: string; keyPath: string };
  limits?: Partial<HttpLimits>;
}

export interface HttpServer {
  /** For WebSocket routes; to be used before `listen`. */
  readonly app: TemplatedApp;
  /** Resolves to the port; rejects when the address cannot be had. Port 0 is any free port, but
   * one that uWS does not share: threads that share need a number. */
  listen(host: string, port: number): Promise<number>;
  /** Stops accepting; replies from now on close their connections. */
  stopListening(): void;
  /**
   * Stops accepting, waits for open exchanges, then cuts what is left and returns its count. After
   * the deadline it waits for as long as one after the other ends: a busy thread was late itself.
   */
  close(deadlineMs: number): Promise<number>;
  counts(): { exchanges: number; streams: number; sockets: number };
}

const drainPollMs = 20;
/** So many looks in a row without an end: what is still open after the deadline gets nowhere. */
const drainIdleLooks = 15;

/** Builds the server of one thread; nothing is opened before `listen`. */
export function createHttpServer<Access, Caller, Services>(
  options: HttpServerOptions<Access, Caller, Services>,
): HttpServer {
  const limits = { ...defaultHttpLimits, ...options.limits };
  const { tls } = options;
  const app =
    tls === undefined
      ? App()
      : SSLApp({ cert_file_name: tls.certPath, key_file_name: tls.keyPath });
  const open = { exchanges: 0, sockets: 0 };
  const clock = () => ticker;
  const bodies = createBodyReader(limits, clock);
  const streams = createStreamTable(clock, limits.streamBufferBytesMax);
  const files = createFileTable(clock, limits);
  const ticker = createTicker(limits.tickMs, [bodies, streams, files]);
  const kernel: Kernel<Access, Caller, Services> = {
    services: options.services,
    authorize: options.authorize,
    tenantOf: options.tenantOf,
    renderProblem: options.renderProblem,
    renderProblemPage: options.renderProblemPage,
    explain: options.explain,
    logger: options.logger,
    addresses: createAddressReader(options.trustedProxies),
    cors: createCors(options.webOrigin, options.exposedHeaders),
    bodies,
    streams,
    files,
    isDraining: false,
    opened: () => {
      open.exchanges += 1;
    },
    upgradedEnded: () => {
      open.sockets -= 1;
    },
    finished: (exchange) => {
      open.exchanges -= 1;
      options.onRequest?.(sampleOf(exchange));
    },
  };
  // uWS tells the filter of an upgraded socket's beginning, but not of its end.
  // Later types of the official package have the number as an object.
  const countSocket = (_: unknown, change: number | object) => {
    open.sockets += Math.sign(Number(change));
  };
  app.filter(countSocket);
  registerRoutes(app, kernel, options.routes);
  return runningServer(app, kernel, open, () => ticker.stop());
}

function sampleOf(exchange: HttpExchange): RequestSample {
  const { routePath, method, status, requestId, startedAt } = exchange;
  return { route: routePath, method, status, durationMs: performance.now() - startedAt, requestId };
}

function runningServer<Access, Caller, Services>(
  app: TemplatedApp,
  kernel: Kernel<Access, Caller, Services>,
  open: { exchanges: number; sockets: number },
  stopTicker: () => void,
): HttpServer {
  let listening: us_listen_socket | null = null;
  let isClosed = false;
  const stopListening = () => {
    kernel.isDraining = true;
    if (listening !== null) us_listen_socket_close(listening);
    listening = null;
  };
  return {
    app,
    stopListening,
    counts: () => ({ ...open, streams: kernel.streams.size }),
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        assert(listening === null && !kernel.isDraining, 'listens once');
        app.listen(host, port, (socket) => {
          if (socket === false) return reject(new Error(`cannot listen on ${host}:${port}`));
          listening = socket;
          resolve(us_socket_local_port(socket));
        });
      }),
    close: async (deadlineMs) => {
      stopListening();
      const deadline = performance.now() + deadlineMs;
      let fewest = open.exchanges;
      for (let idle = 0; open.exchanges > 0; idle += 1) {
        // Looks are counted, not time: in a turn that took long nobody could end.
        if (idle >= drainIdleLooks && performance.now() >= deadline) break;
        await new Promise((resolve) => setTimeout(resolve, drainPollMs));
        if (open.exchanges >= fewest) continue;
        fewest = open.exchanges;
        idle = -1;
      }
      const left = open.exchanges;
      if (!isClosed) app.close();
      isClosed = true;
      stopTicker();
      return left;
    },
  };
}
