// WebSocket routes on uWebSockets.js: authentication like that of any route, then one object of the
// route's own for each connection. Upgrading waits for who is calling, so whatever stands in the
// request is read in the first turn, and a client that left meanwhile is not upgraded.
import type { HttpRequest, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { Problem } from '../problem.ts';
import type { CompiledRoute } from './compile.ts';
import { HttpExchange } from './exchange.ts';
import type { Kernel } from './kernel.ts';
import { readLines } from './negotiate.ts';
import type { ClientSocket, SocketHandlers } from './route.ts';

/** Answers an upgrade that is refused, and logs what nobody expected. */
export type Refuse = (exchange: HttpExchange, error: unknown) => void;

/** What the handshake needs once the caller is known (RFC 6455, section 4.2.2). */
interface Handshake {
  key: string;
  subprotocol: string;
  extensions: string;
  context: us_socket_context_t;
}

/** uWS copies the members of what it is given: this one is the connection itself. */
interface Carrier {
  connection: SocketConnection;
}

const paceMs = 1_000;

/** One connection as its route sees it. After its end every call does nothing. */
class SocketConnection implements ClientSocket {
  readonly handlers: SocketHandlers;
  readonly #framesMax: number;
  #socket: WebSocket<Carrier> | null = null;
  /** What came since then: messages, pings, pongs. */
  #frames = 0;
  #sinceMs = 0;

  constructor(handlers: SocketHandlers, framesMax: number) {
    this.handlers = handlers;
    this.#framesMax = framesMax;
  }

  get bufferedBytes(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  opened(socket: WebSocket<Carrier>): void {
    this.#socket = socket;
    this.handlers.opened(this);
  }

  closed(): void {
    this.#socket = null;
    this.handlers.closed();
  }

  message(data: ArrayBuffer, isBinary: boolean): void {
    if (this.keepsPace()) this.handlers.message(data, isBinary);
  }

  /**
   * uSockets reads on from a socket whose bytes fill its buffer, before anybody else's turn and any
   * timer: one client whose frames take longer to handle than to send would stop its shard for as
   * long as it likes. What follows its end is thrown away unread, which is faster than any network.
   */
  keepsPace(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs >= paceMs) {
      this.#sinceMs = nowMs;
      this.#frames = 0;
    }
    this.#frames += 1;
    if (this.#frames <= this.#framesMax) return true;
    this.end(1008, 'too many messages');
    return false;
  }

  text(message: string): boolean {
    return this.#socket !== null && this.#socket.send(message, false, false) !== 2;
  }

  binary(bytes: Uint8Array): boolean {
    return this.#socket !== null && this.#socket.send(bytes, true, false) !== 2;
  }

  together(send: () => void): void {
    if (this.#socket === null) return;
    this.#socket.cork(send);
  }

  end(code: number, reason: string): void {
    this.#socket?.end(code, reason);
  }
}

/** Registers the upgrade of a route at one of its paths; a plain GET goes on to the route. */
export function registerSocket<Access, Caller, Services>(
  app: TemplatedApp,
  pattern: string,
  compiled: CompiledRoute<Access, Caller, Services>,
  kernel: Kernel<Access, Caller, Services>,
  refuse: Refuse,
): void {
  const { socket } = compiled.route;
  assert(socket !== undefined, 'the route is a WebSocket');
  app.ws<Carrier>(pattern, {
    maxPayloadLength: socket.messageBytesMax,
    maxBackpressure: socket.bufferedBytesMax,
    idleTimeout: socket.silenceSecondsMax,
    sendPingsAutomatically: true,
    upgrade: (response, request, context) => {
      // Behind one that is refused the server goes on with what it takes for the next request.
      if (!readLines(request).isEndCertain) return void response.close();
      if (!isHandshake(request)) return void request.setYield(true);
      const { route, headers } = compiled;
      const exchange = new HttpExchange(kernel, headers, 'GET', route.path, response, request);
      kernel.opened();
      const offered = (exchange.header('sec-websocket-protocol') ?? '').split(',');
      const isOffered = offered.some((name) => name.trim() === socket.subprotocol);
      const handshake: Handshake = {
        key: request.getHeader('sec-websocket-key'),
        subprotocol: isOffered ? socket.subprotocol : '',
        extensions: request.getHeader('sec-websocket-extensions'),
        context,
      };
      startUpgrade(compiled, kernel, exchange, handshake, refuse);
      exchange.leaveFirstTurn();
    },
    open: (opened) => opened.getUserData().connection.opened(opened),
    message: (opened, message, isBinary) =>
      opened.getUserData().connection.message(message, isBinary),
    ping: (opened) => void opened.getUserData().connection.keepsPace(),
    pong: (opened) => void opened.getUserData().connection.keepsPace(),
    close: (opened) => {
      kernel.upgradedEnded();
      opened.getUserData().connection.closed();
    },
  });
}

/**
 * uWS looks for a key alone. Who did not ask for another protocol, or whose proxy left it out,
 * is answered as by any route: behind a 101 that nobody awaits, proxies hang or blame the server.
 * So is who speaks another version than 13 (RFC 6455, 4.2.2), of which the route tells.
 */
function isHandshake(request: HttpRequest): boolean {
  let asked = '';
  let connection = '';
  let isSpoken = true;
  request.forEach((name, value) => {
    if (name === 'upgrade') asked += `,${value}`;
    else if (name === 'connection') connection += `,${value}`;
    else if (name === 'sec-websocket-version') isSpoken &&= value === '13';
  });
  if (!isSpoken) return false;
  return /,\s*websocket\s*(,|$)/i.test(asked) && /,\s*upgrade\s*(,|$)/i.test(connection);
}

function startUpgrade<Access, Caller, Services>(
  compiled: CompiledRoute<Access, Caller, Services>,
  kernel: Kernel<Access, Caller, Services>,
  exchange: HttpExchange,
  handshake: Handshake,
  refuse: Refuse,
): void {
  try {
    if (kernel.isDraining) throw new Problem('overloaded', { headers: { 'retry-after': '1' } });
    const caller = kernel.authorize(compiled.route.access, exchange);
    if (caller instanceof Promise) {
      caller.then(
        (settled) => upgrade(compiled, kernel, exchange, handshake, settled, refuse),
        (error) => refuse(exchange, error),
      );
    } else upgrade(compiled, kernel, exchange, handshake, caller, refuse);
  } catch (error) {
    refuse(exchange, error);
  }
}

/** Never throws. */
function upgrade<Access, Caller, Services>(
  { route }: CompiledRoute<Access, Caller, Services>,
  { services }: Kernel<Access, Caller, Services>,
  exchange: HttpExchange,
  handshake: Handshake,
  caller: Caller,
  refuse: Refuse,
): void {
  const { response } = exchange;
  if (response === null || route.socket === undefined) return;
  let handlers: SocketHandlers;
  try {
    // The declaration ties the caller to the handler's type; the table has forgotten it.
    handlers = route.socket.accept({ caller: caller as never, services, exchange });
  } catch (error) {
    refuse(exchange, error);
    return;
  }
  const connection = new SocketConnection(handlers, route.socket.framesPerSecondMax);
  const { key, subprotocol, extensions, context } = handshake;
  response.cork(() => {
    response.writeStatus('101 Switching Protocols');
    response.writeHeader('x-request-id', exchange.requestId);
    for (const [name, value] of exchange.extraHeaders ?? []) response.writeHeader(name, value);
  });
  exchange.finish(101);
  // Not inside `cork`: an upgraded socket that happens to stay where it was in memory is taken for
  // the HTTP response by the end of `cork`, and then now and then closed. uWS prints a warning for
  // it where who is calling had to be waited for, and has no way to be told not to.
  response.upgrade<Carrier>({ connection }, key, subprotocol, extensions, context);
}
