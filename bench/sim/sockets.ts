// WebSockets of the simulator: upgrades that are taken, refused or left alone, and the messages of
// each to its session. It knows no wire format; families declare themselves in `families.ts`.
import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
} from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { SimLink, SimSession, SimSocketFamily } from './contract.ts';
import type { Refusal } from './directive.ts';
import type { Stats } from './stats.ts';
import type { TimerWheel } from './wheel.ts';

export interface SocketHost {
  readonly app: TemplatedApp;
  readonly wheel: TimerWheel;
  readonly stats: Stats;
  acceptsKey(key: string): boolean;
  outageStatus(model: string): Refusal | null;
  nextRequest(): number;
  id(request: number, length: number): string;
}

/** Directives for the next connections, and the sessions that are open. */
export class SocketControl {
  readonly sessions = new Set<SimSession>();
  /** The view of the session that ended last. */
  lastEnded: Record<string, unknown> | null = null;
  #text = '';
  #connections = 0;

  arm(text: string, connections: number): void {
    this.#text = text;
    this.#connections = connections;
  }

  take(): string {
    if (this.#connections <= 0) return '';
    this.#connections -= 1;
    return this.#text;
  }

  view(): object {
    const newest = [...this.sessions].at(-1);
    return { open: this.sessions.size, newest: newest?.view() ?? null, ended: this.lastEnded };
  }
}

interface SocketData {
  model: string;
  request: number;
  open(link: SimLink): SimSession;
  link: Link | null;
  session: SimSession | null;
}

const messageBytesMax = 16 * 1024 * 1024;
const backpressureBytesMax = 256 * 1024 * 1024;

export function serveSockets(
  host: SocketHost,
  control: SocketControl,
  families: readonly SimSocketFamily[],
): void {
  const routes = families.flatMap((family) => family.paths.map((path) => ({ family, path })));
  for (const { family, path } of routes) {
    host.app.ws<SocketData>(path, {
      maxPayloadLength: messageBytesMax,
      maxBackpressure: backpressureBytesMax,
      idleTimeout: 0,
      sendPingsAutomatically: false,
      upgrade: (res, req, context) => upgrade(host, control, family, res, req, context),
      open: (ws) => {
        const data = ws.getUserData();
        host.stats.started(data.model);
        data.link = new Link(host, ws, data.request);
        data.session = data.open(data.link);
        control.sessions.add(data.session);
      },
      message: (ws, message) => {
        const { link, session } = ws.getUserData();
        if (link?.over === false) session?.message(Buffer.from(message));
      },
      close: (ws) => {
        const { link, session, model } = ws.getUserData();
        if (link === null || session === null) return;
        host.stats.ended(model, link.over ? 'finished' : 'aborted');
        link.over = true;
        link.gone = true;
        control.sessions.delete(session);
        control.lastEnded = session.view();
        session.closed();
      },
    });
  }
}

function upgrade(
  host: SocketHost,
  control: SocketControl,
  family: SimSocketFamily,
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
): void {
  const asked = req.getQuery('sim') ?? '';
  const armed = control.take();
  const verdict = family.connect({
    keyAccepted: host.acceptsKey(family.keyOf(req)),
    kept: family.keep(req),
    directiveText: asked === '' ? armed : `[[sim ${decoded(asked)}]]`,
    outageStatus: (model) => host.outageStatus(model),
  });
  if (verdict === 'stall') {
    res.onAborted(() => undefined);
    return;
  }
  if ('refuse' in verdict) {
    const { status, headers, body } = verdict.refuse;
    res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Status'}`);
    for (const name of Object.keys(headers)) res.writeHeader(name, headers[name] ?? '');
    res.end(body);
    return;
  }
  const data: SocketData = {
    model: verdict.model,
    request: host.nextRequest(),
    open: verdict.open,
    link: null,
    session: null,
  };
  res.upgrade(
    data,
    req.getHeader('sec-websocket-key'),
    (req.getHeader('sec-websocket-protocol').split(',')[0] ?? '').trim(),
    req.getHeader('sec-websocket-extensions'),
    context,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

class Link implements SimLink {
  /** Ended by us, or gone. */
  over = false;
  /** The socket itself is no more. */
  gone = false;
  readonly wheel: TimerWheel;
  readonly #host: SocketHost;
  readonly #ws: WebSocket<SocketData>;
  readonly #request: number;

  constructor(host: SocketHost, ws: WebSocket<SocketData>, request: number) {
    this.wheel = host.wheel;
    this.#host = host;
    this.#ws = ws;
    this.#request = request;
  }

  send(text: string, isBinary: boolean): void {
    if (!this.over) this.#ws.send(text, isBinary);
  }

  cork(write: () => void): void {
    if (!this.over) this.#ws.cork(write);
  }

  // Ending inside a cork would drop what was written before, so it happens on the next turn.
  close(code: number, reason: string): void {
    this.#leave(() => this.#ws.end(code, reason));
  }

  cut(): void {
    this.#leave(() => this.#ws.close());
  }

  id(length: number): string {
    return this.#host.id(this.#request, length);
  }

  noteSetup(body: unknown): void {
    this.#host.stats.lastBody = body;
  }

  #leave(end: () => void): void {
    if (this.over) return;
    this.over = true;
    setImmediate(() => {
      if (!this.gone) end();
    });
  }
}
