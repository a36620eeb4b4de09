// The simulator's HTTP server: bodies in, replies and scripts out, the admin endpoint. It knows no
// wire format; families declare their routes in `families.ts`.
import { App, type HttpRequest, type HttpResponse, type TemplatedApp } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { SimExchange, SimFamily } from './contract.ts';
import type { Directive, Refusal } from './directive.ts';
import { type DnsServer, startDns } from './dns/server.ts';
import { DnsZone } from './dns/zone.ts';
import { families, socketFamilies } from './families.ts';
import { listen } from './listen.ts';
import { type Outage, Outages } from './outages.ts';
import { Payments } from './payments/state.ts';
import { Player, type Script } from './player.ts';
import { type Poured, Pourer } from './pourer.ts';
import { SearchTurns } from './search/turns.ts';
import { SocketControl, type SocketHost, serveSockets } from './sockets.ts';
import { Stats } from './stats.ts';
import { VideoJobs } from './video/jobs.ts';
import { TimerWheel, type WheelEntry } from './wheel.ts';

export interface SimOptions {
  port: number;
  /** The DNS server's; left out: a free one. */
  dnsPort?: number;
  /** When set, any other key gets the provider's 401. */
  key: string | null;
  seed: number;
}

export interface RunningSim {
  port: number;
  dnsPort: number;
  close(): void;
}

type SimRoute = SimFamily['routes'][number];
type Served = { family: SimFamily; route: SimRoute };

const bodyBytesMax = 64 * 1024 * 1024;
const nothingKept: Readonly<Record<string, string>> = Object.freeze({});
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

class Sim implements SocketHost {
  readonly app: TemplatedApp = App();
  readonly wheel = new TimerWheel();
  readonly stats = new Stats();
  readonly videos = new VideoJobs();
  readonly payments = new Payments();
  readonly searches = new SearchTurns();
  readonly zone = new DnsZone();
  readonly #options: SimOptions;
  readonly #outages = new Outages();
  readonly #sockets = new SocketControl();
  #requests = 0;

  constructor(options: SimOptions) {
    this.#options = options;
    for (const served of servedPaths()) {
      this.app[served.method](served.path, (res, req) => {
        const found = served.choices.find(({ route }) => route.isFor?.(req) ?? true);
        if (found === undefined) req.setYield(true);
        else this.#serve(res, req, found);
      });
    }
    serveSockets(this, this.#sockets, socketFamilies);
    this.#admin();
    this.app.any('/*', (res) => {
      sendJson(res, '404 Not Found', {
        error: {
          message: 'Unknown request URL',
          type: 'invalid_request_error',
          param: null,
          code: 'unknown_url',
        },
      });
    });
  }

  acceptsKey(key: string): boolean {
    return this.#options.key === null || key === this.#options.key;
  }

  nextRequest(): number {
    this.#requests += 1;
    return this.#requests;
  }

  outageOf(model: string, group: string): Outage | null {
    return this.#outages.statusOf(model, group);
  }

  /** The outage that hits a socket: a stalled one leaves it alone. */
  outageStatus(model: string): Refusal | null {
    const outage = this.outageOf(model, '');
    return outage === 'stall' ? null : outage;
  }

  /** Characters from the seed, the request number last: unique and repeatable. */
  id(request: number, length: number): string {
    let state = (this.#options.seed ^ 0x9e3779b9) >>> 0;
    let made = '';
    const tail = request.toString(36).padStart(8, '0');
    while (made.length < length - tail.length) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      made += alphabet.charAt((state >>> 16) % alphabet.length);
    }
    return (made + tail).slice(-length);
  }

  #serve(res: HttpResponse, req: HttpRequest, { family, route }: Served): void {
    const { handle, reads } = route;
    const keyAccepted = this.acceptsKey(family.keyOf(req));
    const kept = family.keep?.(req) ?? nothingKept;
    const exchange = new Exchange(this, res, this.nextRequest(), keyAccepted, kept);
    res.onAborted(() => exchange.aborted());
    if (req.getMethod() === 'get') {
      if (reads === 'query') {
        exchange.body = membersOfForm(req.getQuery() ?? '');
        this.stats.lastBody = exchange.body;
        this.stats.lastKept = kept;
      }
      handle(exchange);
      return;
    }
    readBytes(res, (bytes) => {
      if (reads === 'bytes') exchange.body = bytes;
      else if (reads === 'form') exchange.body = membersOfForm(bytes.toString());
      else exchange.body = parseJson(bytes.toString());
      this.stats.lastBody = reads === 'bytes' ? { bytes: bytes.length } : exchange.body;
      this.stats.lastKept = kept;
      handle(exchange);
    });
  }

  #admin(): void {
    this.app.get('/sim/stats', (res) => sendJson(res, '200 OK', this.stats.view()));
    this.app.get('/sim/last', (res) => {
      const { lastBody, lastKept } = this.stats;
      sendJson(res, '200 OK', { body: lastBody, kept: lastKept });
    });
    this.app.post('/sim/reset', (res) => {
      this.stats.reset();
      this.videos.reset();
      this.payments.reset();
      this.searches.reset();
      this.zone.reset();
      this.#outages.clear();
      this.#sockets.arm('', 0);
      sendJson(res, '200 OK', { ok: true });
    });
    this.#adminPost('/sim/outage', (body) => this.#outages.set(body));
    this.#adminPost('/sim/search', (body) => this.searches.arm(body) || null);
    this.app.get('/sim/dns', (res) => sendJson(res, '200 OK', this.zone.view()));
    this.#adminPost('/sim/dns', (body) => this.zone.set(body) || null);
    this.app.get('/sim/payments', (res) => sendJson(res, '200 OK', this.payments.view()));
    this.#adminPost('/sim/payments', (body) => this.payments.act(body));
    this.#adminPost('/sim/webhooks', (body) => this.payments.webhooks.register(body) || null);
    this.app.get('/sim/videos', (res) => sendJson(res, '200 OK', this.videos.view()));
    this.app.get('/sim/voice', (res) => sendJson(res, '200 OK', this.#sockets.view()));
    this.#adminPost('/sim/voice', ({ directive, connections, act }) => {
      if (typeof directive !== 'string') return;
      const text = `[[sim ${directive}]]`;
      if (act === true) for (const session of this.#sockets.sessions) session.act(text);
      else this.#sockets.arm(text, typeof connections === 'number' ? connections : 1);
    });
  }

  /** What `act` gives is in the reply; null: it makes no sense of the body. */
  #adminPost(path: string, act: (body: Record<string, unknown>) => unknown): void {
    this.app.post(path, (res) => {
      res.onAborted(() => undefined);
      readBytes(res, (bytes) => {
        const made = act((parseJson(bytes.toString()) ?? {}) as Record<string, unknown>);
        const [status, ok] = made === null ? ['400 Bad Request', false] : ['200 OK', true];
        const told = typeof made === 'object' ? { result: made } : {};
        res.cork(() => sendJson(res, status, { ok, ...told }));
      });
    });
  }
}

class Exchange implements SimExchange, WheelEntry {
  body: unknown = undefined;
  dueTick = 0;
  cancelled = false;
  readonly keyAccepted: boolean;
  readonly kept: Readonly<Record<string, string>>;
  readonly #sim: Sim;
  readonly #res: HttpResponse;
  readonly #request: number;
  #model: string | null = null;
  #group = '';
  /** An outage keeps it from every answer. */
  #isStalled = false;
  #over = false;
  #player: Player | Pourer | null = null;
  #delayed: (() => void) | null = null;

  constructor(
    sim: Sim,
    res: HttpResponse,
    request: number,
    keyAccepted: boolean,
    kept: Readonly<Record<string, string>>,
  ) {
    this.#sim = sim;
    this.#res = res;
    this.#request = request;
    this.keyAccepted = keyAccepted;
    this.kept = kept;
  }

  get outageStatus(): Refusal | null {
    const outage = this.#sim.outageOf(this.#model ?? '', this.#group);
    return outage === 'stall' ? null : outage;
  }

  get videos(): VideoJobs {
    return this.#sim.videos;
  }

  get payments(): Payments {
    return this.#sim.payments;
  }

  get searches(): SearchTurns {
    return this.#sim.searches;
  }

  id(length: number): string {
    return this.#sim.id(this.#request, length);
  }

  begin(model: string, group = ''): void {
    this.#model = model;
    this.#group = group;
    this.#isStalled = this.#sim.outageOf(model, group) === 'stall';
    this.#sim.stats.started(model);
  }

  reply(status: number, headers: Record<string, string>, body: string, delayMs = 0): void {
    if (this.cancelled || this.#isStalled) return;
    if (delayMs > 0) {
      this.#delayed = () => this.reply(status, headers, body);
      this.#sim.wheel.schedule(this, performance.now() + delayMs);
      return;
    }
    this.#end('finished');
    this.#res.cork(() => {
      this.#res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Status'}`);
      for (const name of Object.keys(headers)) this.#res.writeHeader(name, headers[name] ?? '');
      this.#res.end(body);
    });
  }

  play(script: Script, directive: Directive): void {
    if (this.cancelled || this.#isStalled) return;
    const end = () => this.#end('finished');
    this.#player = new Player(this.#res, script, directive, this.#sim.wheel, end);
    this.#player.start();
  }

  pour(poured: Poured): void {
    if (this.cancelled || this.#isStalled) return;
    const end = () => this.#end('finished');
    this.#player = new Pourer(this.#res, poured, this.#sim.wheel, end);
    this.#player.start();
  }

  leave(how: 'stall' | 'cut'): void {
    if (how === 'stall' || this.#isStalled) return;
    this.#end('finished');
    this.#res.close();
  }

  /** Called by the wheel. */
  fire(): void {
    this.#delayed?.();
  }

  aborted(): void {
    this.cancelled = true;
    this.#player?.stop();
    this.#end('aborted');
  }

  #end(how: 'finished' | 'aborted'): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#model !== null) this.#sim.stats.ended(this.#model, how);
  }
}

/** Each path once, with every family that has it: uWS would keep only the last. */
function servedPaths(): { method: SimRoute['method']; path: string; choices: Served[] }[] {
  const all = families.flatMap((family) => family.routes.map((route) => ({ family, route })));
  const byPath = new Map<string, Served[]>();
  for (const served of all) {
    const key = `${served.route.method} ${served.route.path}`;
    byPath.set(key, [...(byPath.get(key) ?? []), served]);
  }
  return [...byPath.values()].flatMap((choices) =>
    choices.slice(0, 1).map(({ route: { method, path } }) => ({ method, path, choices })),
  );
}

function readBytes(res: HttpResponse, done: (bytes: Buffer) => void): void {
  let parts: Buffer[] | null = null;
  let length = 0;
  res.onData((chunk, isLast) => {
    length += chunk.byteLength;
    if (length > bodyBytesMax) {
      res.close();
      return;
    }
    if (!isLast) {
      parts ??= [];
      parts.push(Buffer.from(Buffer.from(chunk)));
      return;
    }
    const last = Buffer.from(chunk);
    // The chunk is gone when this returns, and a handler may keep the bytes: both ways copy.
    done(parts === null ? Buffer.from(last) : Buffer.concat([...parts, last]));
  });
}

/** The last of several with one name counts. */
function membersOfForm(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sendJson(res: HttpResponse, status: string, value: unknown): void {
  res.writeStatus(status).writeHeader('content-type', 'application/json');
  res.end(JSON.stringify(value));
}

/** Listens on the loopback; port 0 takes a free one. Rejects when the port is taken. */
export async function startSim(options: SimOptions): Promise<RunningSim> {
  const sim = new Sim(options);
  const port = await listen(sim.app, options.port);
  let dns: DnsServer;
  try {
    dns = await startDns(sim.zone, options.dnsPort ?? 0);
  } catch (error) {
    sim.app.close();
    throw error;
  }
  const close = () => {
    dns.close();
    sim.payments.close();
    sim.app.close();
  };
  return { port, dnsPort: dns.port, close };
}
