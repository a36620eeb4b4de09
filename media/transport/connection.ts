// One connection to a provider's server: a request at a time, and its response as it comes. It is
// our own, for short calls only: README.md beside it says what that saves.
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { AwakeTimer } from '../../runtime/awake.ts';
import { dial } from './dial.ts';
import { ResponseParser } from './http-response.ts';

/** A call as undici has it, with a body that is a text. */
export interface TextCall {
  origin: string;
  path: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

export type CallHandler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;

export interface Exchange {
  call: TextCall;
  handler: CallHandler;
}

/** What the connections of one origin leave to the next ones. */
export interface OriginMemory {
  /** Of TLS: a connection that goes on with it is set up in one round trip less. */
  session: Buffer | null;
}

/** What the pool is told; each at most once an exchange, `closed` at the end of the connection. */
export interface ConnectionEvents {
  free(connection: Connection): void;
  closed(connection: Connection): void;
}

/** The server closed a connection, or broke the protocol, before the response was whole. */
export class ConnectionError extends Error {
  /** `unsendable`: the request is none, and no byte of it was written. */
  readonly code: 'closed' | 'connect_timeout' | 'malformed' | 'unsendable';
  /** It had carried a whole exchange before: its server may just have been tired of it. */
  readonly wasKept: boolean;

  constructor(code: ConnectionError['code'], message: string, wasKept: boolean) {
    super(message);
    this.code = code;
    this.wasKept = wasKept;
  }
}

const connectMs = 10_000;
/** A silent connection is probed, so that what stands between keeps it. */
const probeMs = 60_000;
/** A server that says how long it keeps a connection closes it a moment before it says. */
const idleMarginMs = 1_000;
const unsafe = /[^\t\u0020-\u007e\u0080-\u00ff]/;
const unsafePath = /[^\u0021-\u00ff]/;
const printable = /^[\t\u0020-\u007e]*$/;

export class Connection {
  /** When it is to be closed if nobody has used it, by `performance.now()`. */
  idleUntilMs = 0;
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  readonly #idleMsMax: number;
  readonly #connecting: AwakeTimer;
  #current: Running | null = null;
  #waiting: Exchange | null;
  #wasKept = false;
  #error: Error | null = null;

  /** Connects for a first exchange. */
  constructor(first: Exchange, idleMsMax: number, memory: OriginMemory, events: ConnectionEvents) {
    this.#waiting = first;
    this.#idleMsMax = idleMsMax;
    this.#events = events;
    const isSecure = first.call.origin.startsWith('https:');
    this.#socket = this.#open(new URL(first.call.origin), isSecure, memory);
    const isLate = () => this.#socket.destroy(this.#failure('connect_timeout', 'not connected'));
    this.#connecting = new AwakeTimer(connectMs, isLate);
    this.#socket.setNoDelay(true);
    this.#socket.setKeepAlive(true, probeMs);
    this.#socket.once(isSecure ? 'secureConnect' : 'connect', () => this.#begin());
    this.#socket.on('error', (error) => {
      this.#error ??= error;
    });
    this.#socket.on('close', () => this.#closed());
  }

  /** Whether it may still be open at its other end. */
  isUsable(nowMs: number): boolean {
    return (
      !this.#socket.destroyed && this.#socket.readyState === 'open' && nowMs < this.idleUntilMs
    );
  }

  /** Sends a request on an idle connection. */
  start({ call, handler }: Exchange): void {
    const running = new Running(handler);
    handler.onRequestStart?.(running, null);
    if (running.reason !== null) {
      // Given up while it waited: nothing was sent, and the connection is as good as it was.
      this.#keep(this.#idleMsMax);
      handler.onResponseError?.(running, running.reason);
      return;
    }
    this.#current = running;
    this.#socket.ref();
    running.begin(this.#socket);
    try {
      this.#socket.write(written(call));
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #open({ hostname, port }: URL, isSecure: boolean, memory: OriginMemory): Socket {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const { session } = memory;
    const address = { host, port: Number(port || (isSecure ? 443 : 80)), isSecure, session };
    const socket = dial(address, (bytes) => this.#read(bytes));
    socket.on('session', (fresh: Buffer) => {
      memory.session = fresh;
    });
    return socket;
  }

  #begin(): void {
    this.#connecting.cancel();
    const first = this.#waiting;
    this.#waiting = null;
    if (first !== null) this.start(first);
  }

  #read(bytes: Buffer): void {
    const current = this.#current;
    // Nobody asked for it.
    if (current === null) {
      this.#socket.destroy();
      return;
    }
    if (current.aborted) return;
    const { parser } = current;
    try {
      const taken = parser.push(bytes);
      if (parser.isOver) this.#finish(current, taken === bytes.length);
    } catch (error) {
      const { message } = error as Error;
      this.#socket.destroy(this.#failure('malformed', message));
    }
  }

  /** `isClean`: the response ended where the read did. */
  #finish(current: Running, isClean: boolean): void {
    const { parser } = current;
    this.#current = null;
    current.leave();
    const hintMs = (parser.idleMs ?? Number.POSITIVE_INFINITY) - idleMarginMs;
    const idleMs = Math.min(this.#idleMsMax, hintMs);
    if (isClean && parser.keepsOpen && idleMs > 0 && !current.aborted) this.#keep(idleMs);
    else this.#socket.destroy();
    current.handler.onResponseEnd?.(current, {});
  }

  #keep(idleMs: number): void {
    this.#wasKept = true;
    this.idleUntilMs = performance.now() + idleMs;
    this.#socket.unref();
    this.#events.free(this);
  }

  #closed(): void {
    this.#connecting.cancel();
    const current = this.#current;
    const waiting = this.#waiting;
    this.#current = null;
    this.#waiting = null;
    this.#events.closed(this);
    if (waiting !== null) {
      const error = this.#error ?? this.#failure('closed', 'closed while connecting');
      const { handler } = waiting;
      handler.onResponseError?.(new Running(handler), error);
    }
    if (current === null) return;
    current.leave();
    if (this.#error === null && !current.aborted && current.parser.end()) {
      current.handler.onResponseEnd?.(current, {});
      return;
    }
    const error = current.reason ?? this.#error ?? this.#failure('closed', 'other side closed');
    current.handler.onResponseError?.(current, error);
  }

  #failure(code: ConnectionError['code'], message: string): ConnectionError {
    return new ConnectionError(code, message, this.#wasKept);
  }
}

/** An exchange on its connection, which it touches from its beginning to its end and no longer. */
class Running implements Controller {
  readonly handler: CallHandler;
  readonly parser: ResponseParser;
  rawHeaders = null;
  rawTrailers = null;
  reason: Error | null = null;
  paused = false;
  #socket: Socket | null = null;

  constructor(handler: CallHandler) {
    this.handler = handler;
    this.parser = new ResponseParser({
      head: (status, headers) => {
        if (this.reason !== null) return;
        // Of a good reply no header is anybody's.
        handler.onResponseStart?.(this, status, status < 300 ? {} : headers());
      },
      data: (piece) => {
        if (this.reason === null) handler.onResponseData?.(this, piece);
      },
    });
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  begin(socket: Socket): void {
    this.#socket = socket;
    if (this.paused) socket.pause();
  }

  pause(): void {
    if (this.paused) return;
    this.paused = true;
    this.#socket?.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.#socket?.resume();
  }

  abort(reason: Error): void {
    if (this.reason !== null) return;
    this.reason = reason;
    this.#socket?.destroy();
  }

  /** Behind the last byte of the response. */
  leave(): void {
    this.resume();
    this.#socket = null;
  }
}

/** The request as it is sent. @throws ConnectionError where a header would be another request */
function written({ origin, path, method, headers, body }: TextCall): string | Buffer {
  const host = origin.slice(origin.indexOf('//') + 2);
  if (unsafePath.test(path)) throw unsendable('the path is not sent');
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  let given = path + host;
  for (const name in headers) {
    const value = headers[name] ?? '';
    given += name + value;
    head += `${name}: ${value}\r\n`;
  }
  head += `content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  // Nearly always one look says all; each header for itself only where there is more to say.
  if (printable.test(given)) return head + body;
  const refused = unsafeName(headers);
  if (refused !== undefined) throw unsendable(`the header ${refused} is not sent`);
  // Latin-1, as headers are written: UTF-8 for all would double what is no ASCII.
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
}

function unsendable(message: string): ConnectionError {
  return new ConnectionError('unsendable', message, false);
}

function unsafeName(headers: TextCall['headers']): string | undefined {
  return Object.keys(headers).find((name) => unsafe.test(name) || unsafe.test(headers[name] ?? ''));
}
