// The calls of one thread, which text and audio run alike: their connections (short texts over our
// own, all others over undici's), one coarse ticker for all deadlines, what is kept of a refusal.
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, errors } from 'undici';
import { afterReading, awakeMs } from '../../runtime/awake.ts';
import { TransientSet } from '../../runtime/transient.ts';
import type { UpstreamFailure } from '../model/events.ts';
import type { UpstreamDeadlines } from '../providers/generation/contract.ts';
import { type CallHandler, ConnectionError, type TextCall } from './connection.ts';
import { Connections } from './connections.ts';
import { failureOfReply, plainFailure } from './refusal.ts';

/** How often deadlines are looked at: they are late by at most this much. */
const tickMs = 50;
/** An idle connection is closed after this long; shorter than any server's own limit. */
const keepAliveMs = 4000;
const refusalBytesMax = 64 * 1024;
/** A connection that was closed while it was idle says so as soon as it is written to. */
const staleMs = 1_000;

const connectTimeouts: ReadonlySet<unknown> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'connect_timeout' satisfies ConnectionError['code'],
]);

/** A call as it is sent: those whose body is no text are undici's. */
export type OpenCall = TextCall | OtherCall;
type OtherCall = Dispatcher.DispatchOptions & { body: Uint8Array | Readable };

function isText(call: OpenCall): call is TextCall {
  return typeof call.body === 'string';
}

export interface CallPoolOptions {
  /** Connections to one origin; further calls wait for one, under their connect deadline. */
  connectionsMax: number;
}

interface PooledCall {
  checkDeadlines(nowMs: number): void;
  /** Ends it without a report. */
  abort(): void;
}

/** The calls that run, and their connections. */
export class CallPool<C extends PooledCall> {
  /** Coarse clock of all calls, awake time: that of the last tick or start. */
  nowMs = awakeMs();
  readonly #agent: Agent;
  readonly #connections: Connections;
  readonly #calls = new TransientSet<C>();
  #ticker: NodeJS.Timeout | null = null;

  constructor({ connectionsMax }: CallPoolOptions) {
    this.#agent = new Agent({
      connections: connectionsMax,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#connections = new Connections({ connectionsMax, idleMs: keepAliveMs });
  }

  /** Calls that are not released. */
  get size(): number {
    return this.#calls.size;
  }

  /** Sets the clock, at the start of a call. */
  readClock(): void {
    this.nowMs = awakeMs();
  }

  /** From now on its deadlines are looked at. */
  add(call: C): void {
    this.#calls.add(call);
    this.#ticker ??= setInterval(() => afterReading(() => this.#tick()), tickMs);
  }

  release(call: C): void {
    this.#calls.delete(call);
    if (this.#calls.size > 0 || this.#ticker === null) return;
    clearInterval(this.#ticker);
    this.#ticker = null;
  }

  dispatch(call: OpenCall, handler: CallHandler): void {
    if (isText(call)) this.#connections.dispatch(call, handler);
    else this.#agent.dispatch(call, handler);
  }

  /** Sends a call on a connection of its own, once. The result gives the connection up. */
  dispatchAlone(call: TextCall, handler: CallHandler): () => void {
    return this.#connections.dispatchAlone(call, handler);
  }

  /**
   * Sends a call once more that failed unanswered, if its connection proved stale; false: it has
   * failed. Should it have been read after all, the operator pays for an answer that nobody sees;
   * the client is charged for the one that it is shown.
   */
  dispatchAgain(call: OpenCall, handler: CallHandler, error: Error, sentMs: number): boolean {
    if (!isStaleConnection(error, awakeMs() - sentMs)) return false;
    this.dispatch(call, handler);
    return true;
  }

  /** Aborts what runs, and closes every connection. */
  async close(): Promise<void> {
    for (const call of this.#calls) call.abort();
    this.#connections.close();
    await this.#agent.destroy();
  }

  #tick(): void {
    this.readClock();
    for (const call of this.#calls) call.checkDeadlines(this.nowMs);
  }
}

/** The parts of an absolute URL. */
export function addressOf(url: string): { origin: string; path: string } {
  const pathStart = url.indexOf('/', url.indexOf('//') + 2);
  return { origin: url.slice(0, pathStart), path: url.slice(pathStart) };
}

type CallStage = 'connecting' | 'waiting' | 'reading' | 'paused';

/** Where a call stands. One that waits for its first event is late whether it is paused or not. */
export function stageOf(isConnected: boolean, hasBegun: boolean, isPaused: boolean): CallStage {
  if (!isConnected) return 'connecting';
  if (!hasBegun) return 'waiting';
  return isPaused ? 'paused' : 'reading';
}

/** Which deadline is over, in words for the log; null: none. */
export function overdue(
  { connectMs, firstEventMs, idleMs, totalMs }: UpstreamDeadlines,
  stage: CallStage,
  ageMs: number,
  idleForMs: number,
): string | null {
  if (stage === 'connecting' && ageMs > connectMs) return `no connection within ${connectMs} ms`;
  const hasBegun = stage === 'reading' || stage === 'paused';
  if (!hasBegun && ageMs > firstEventMs) return `no event within ${firstEventMs} ms`;
  if (stage === 'reading' && idleForMs > idleMs) return `silent for ${idleMs} ms`;
  return ageMs > totalMs ? `not done within ${totalMs} ms` : null;
}

/** The failure of a call that was never answered. */
export function connectFailure(error: Error): UpstreamFailure {
  const isTimeout = 'code' in error && connectTimeouts.has(error.code);
  return plainFailure(isTimeout ? 'timeout' : 'connect', error.message);
}

/**
 * Whether the server had closed a connection that was kept, as servers do at any time, and this
 * call found out (RFC 9112, 9.3.1). What is closed later was read, and may have been answered.
 */
function isStaleConnection(error: Error, sinceSentMs: number): boolean {
  if (sinceSentMs > staleMs || !('code' in error)) return false;
  const { code } = error;
  if (code === 'ECONNRESET' || code === 'EPIPE') return true;
  if (error instanceof ConnectionError) return error.code === 'closed' && error.wasKept;
  return error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;
}

/** A reply that is not 2xx, as far as it is kept: its family reads it when there is no more. */
export class RefusedReply {
  readonly #status: number;
  readonly #headers: Record<string, string>;
  readonly #body: Buffer[] = [];
  #bytes = 0;

  constructor(status: number, headers: Record<string, string | string[] | undefined>) {
    this.#status = status;
    this.#headers = singleHeaders(headers);
  }

  /** False: it is as long as it may be, and to be read now. */
  push(chunk: Buffer): boolean {
    this.#body.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    return this.#bytes < refusalBytesMax;
  }

  read(family: {
    readFailure(status: number, headers: Record<string, string>, body: string): UpstreamFailure;
  }): UpstreamFailure {
    const body = Buffer.concat(this.#body).subarray(0, refusalBytesMax).toString();
    try {
      return family.readFailure(this.#status, this.#headers, body);
    } catch {
      // Members of the strangest kinds throw when they are made texts; nobody would end the call.
      return failureOfReply(this.#status, this.#headers, body, []);
    }
  }
}

export function singleHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const single: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) single[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return single;
}
