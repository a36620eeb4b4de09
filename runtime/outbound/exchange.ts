// One request and its answer over one pinned connection. Each stage has a deadline, what is read
// has a bound, and the body is taken with backpressure. A redirect is another request.
import { type Dispatcher, errors } from 'undici';
import { AwakeTimer } from '../awake.ts';
import { type PinnedClient, pinnedClient } from './connect.ts';
import type { OutboundDeadlines } from './contract.ts';
import { OutboundFault } from './fault.ts';
import type { Target } from './target.ts';

/** So much of a body waits for its reader. A piece costs more than its bytes, so both count. */
const waitingBytesMax = 64 * 1_024;
const waitingPiecesMax = 1_024;
/** Pieces that may be shorter on average: each costs a microsecond, whatever is in it. */
const piecesMax = 32_768;
const pieceBytesMin = 16;

export interface Request {
  readonly target: Target;
  readonly addresses: readonly string[];
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
  readonly deadlines: OutboundDeadlines;
  readonly bytesMax: number;
  /** Certificates that are trusted in place of Node's own. */
  readonly ca: string | null;
}

export interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly length: number | null;
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: Request;
  readonly #connection: PinnedClient;
  #controller: Dispatcher.DispatchController | null = null;
  #timer: AwakeTimer | null = null;
  #head: { done(head: Head): void; fail(fault: OutboundFault): void } | null = null;
  /** Wakes the reader that waits. */
  #wake: (() => void) | null = null;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  #pieces = 0;
  #fault: OutboundFault | null = null;
  #isDone = false;

  constructor(request: Request) {
    this.#request = request;
    this.#connection = pinnedClient(request.target, request.addresses, request.ca);
  }

  /** Sends it. @throws OutboundFault */
  send(): Promise<Head> {
    const { target, method, headers, body, deadlines } = this.#request;
    this.#await(deadlines.connectMs, 'source_unreachable', 'no connection in time');
    return new Promise<Head>((done, fail) => {
      this.#head = { done, fail };
      const path = `${target.url.pathname}${target.url.search}`;
      this.#connection.client.dispatch({ path, method, headers: { ...headers }, body }, this);
    });
  }

  /** What has come of the body, null at its end. @throws OutboundFault where it breaks off */
  async read(): Promise<Buffer | null> {
    if (this.#waiting.length === 0 && !this.#isDone && this.#fault === null) {
      this.#await(this.#request.deadlines.idleMs, 'timeout', 'the body stands still');
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    if (this.#fault !== null) throw this.#fault;
    if (this.#waiting.length === 0) return null;
    const taken = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (!this.#isDone) this.#controller?.resume();
    const [first] = taken;
    return taken.length === 1 && first !== undefined ? first : Buffer.concat(taken);
  }

  /** Ends it for this reason, whatever it waits for; what is done stays so. */
  fail(fault: OutboundFault): void {
    if (this.#fault !== null) return;
    if (!this.#isDone) this.#fault = fault;
    this.close();
    this.#head?.fail(fault);
    this.#head = null;
    this.#rouse();
  }

  /** Closes the connection. */
  close(): void {
    this.#timer?.cancel();
    this.#connection.destroy();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#await(this.#request.deadlines.headersMs, 'timeout', 'no answer in time');
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    given: Record<string, string | string[] | undefined>,
  ): void {
    // Any number of notes may come before the answer (RFC 9110, 15.2), in the one deadline.
    if (status < 200 || this.#head === null) return;
    this.#timer?.cancel();
    const headers = readHeaders(given);
    this.#head.done({ status, headers, length: readLength(headers) });
    this.#head = null;
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#fault !== null) return;
    this.#bytes += piece.length;
    this.#pieces += 1;
    if (this.#bytes > this.#request.bytesMax) {
      this.fail(new OutboundFault('source_too_large', 'the body is too long'));
      return;
    }
    if (this.#pieces > piecesMax && this.#bytes < this.#pieces * pieceBytesMin) {
      this.fail(new OutboundFault('source_refused', 'the body comes as dust'));
      return;
    }
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes >= waitingBytesMax || this.#waiting.length >= waitingPiecesMax) {
      controller.pause();
    }
    this.#rouse();
  }

  onResponseEnd(): void {
    this.#isDone = true;
    this.close();
    this.#rouse();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(faultOf(error));
  }

  #await(ms: number, reason: OutboundFault['reason'], detail: string): void {
    this.#timer?.cancel();
    this.#timer = new AwakeTimer(ms, () => this.fail(new OutboundFault(reason, detail)));
  }

  #rouse(): void {
    if (this.#wake === null) return;
    this.#timer?.cancel();
    const wake = this.#wake;
    this.#wake = null;
    wake();
  }
}

/** What is announced of a body is refused before it is read. */
export function faultOfHead(
  { status, headers, length }: Head,
  { method, bytesMax }: Pick<Request, 'method' | 'bytesMax'>,
): OutboundFault | null {
  const isCoded = (name: string, plain: string) =>
    !['', plain].includes((headers.get(name) ?? '').trim().toLowerCase());
  if (isCoded('content-encoding', 'identity') || isCoded('transfer-encoding', 'chunked')) {
    return new OutboundFault('source_refused', 'the body is coded');
  }
  const isBodiless = method === 'HEAD' || status === 204 || status === 304;
  if (isBodiless || length === null || length <= bytesMax) return null;
  return new OutboundFault('source_too_large', 'the announced length');
}

function readHeaders(given: Record<string, string | string[] | undefined>): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    // Nobody here keeps cookies, and a URL's server has nothing to say to ours.
    if (value === undefined || name === 'set-cookie') continue;
    headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return headers;
}

function readLength(headers: ReadonlyMap<string, string>): number | null {
  const text = headers.get('content-length') ?? '';
  return /^\d+$/.test(text) ? Number(text) : null;
}

function faultOf(error: Error): OutboundFault {
  if (error instanceof OutboundFault) return error;
  if (error instanceof errors.HeadersOverflowError) {
    return new OutboundFault('source_too_large', 'the head of the answer');
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return new OutboundFault('source_unreachable', code);
}
