// Runs one live session over a socket of its own. Everything of it is bounded: every wait has a
// deadline, audio that the socket does not take is dropped, and after the last event it is silent.
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { AwakeTimer, awakeMs } from '../../../runtime/awake.ts';
import { detailCharactersMax } from '../../transport/refusal.ts';
import { type LiveSocket, type LiveSocketOptions, openLiveSocket } from '../../transport/socket.ts';
import type { UpstreamTarget } from '../generation/contract.ts';
import type {
  LiveCall,
  LiveCodec,
  LiveDeadlines,
  LiveEvent,
  LiveFailureKind,
  LiveFamily,
  LiveListener,
  LiveMessages,
  LivePosition,
  LiveSetup,
} from './contract.ts';
import { kindOfClose, kindOfReply } from './refusal.ts';

export interface LiveBounds {
  /**
   * What may wait in the socket before audio is dropped: 7.7 s of 24 kHz as base64 text (2.1 KB for
   * 32 ms), as much as waits before the resampling. Early sound and a whole burst are 7 s, 464 KB.
   * 1,000 sessions whose upstreams all take nothing keep 512 MiB, for `stallMs` at most.
   */
  bufferedBytesMax: number;
  /**
   * What may wait beyond that of anything else, or the upstream is lost: several times a history,
   * 50 results of searches. An upstream that does not read can ask for any number of them.
   */
  controlBytesMax: number;
  /** A session that drops audio for so long without a break has lost its upstream. */
  stallMs: number;
  /** Of one message: a minute of audio in one piece is 3.8 MB. */
  messageBytesMax: number;
  /** How long the close handshake may take. */
  closeMs: number;
}

const usualBounds: LiveBounds = {
  bufferedBytesMax: 512 * 1024,
  controlBytesMax: 256 * 1024,
  stallMs: 10_000,
  messageBytesMax: 8 * 1024 * 1024,
  closeMs: 1000,
};

/** Connects at once. Never throws: what is wrong is a `failed` event, later. */
export function openLiveCall(
  family: LiveFamily,
  setup: LiveSetup,
  target: UpstreamTarget,
  deadlines: LiveDeadlines,
  listener: LiveListener,
  bounds: Partial<LiveBounds> = {},
): LiveCall {
  const codec = family.createCodec(setup, target);
  const call = new Call(codec, deadlines, listener, { ...usualBounds, ...bounds });
  const { url, headers } = family.address(target);
  call.connect(url, headers);
  return call;
}

/** A refusal is read as far: it is JSON, which says nothing when it is cut. */
const refusalCharactersMax = 8 * detailCharactersMax;

/** With the end of an answer without usage, too: the next report does not count what it said. */
const usedTypes: ReadonlySet<LiveEvent['type']> = new Set(['usage', 'unreported', 'unheard']);

/** `closing`: only usage is of interest. */
type Phase = 'connecting' | 'setting-up' | 'ready' | 'closing' | 'over';

class Call implements LiveCall {
  readonly #codec: LiveCodec;
  readonly #deadlines: LiveDeadlines;
  readonly #listener: LiveListener;
  readonly #bounds: LiveBounds;
  #line: LiveSocket | null = null;
  #phase: Phase = 'connecting';
  /** The one deadline of the phase. */
  #timer: AwakeTimer | null = null;
  #droppedFrames = 0;
  #stalledSinceMs: number | null = null;

  constructor(
    codec: LiveCodec,
    deadlines: LiveDeadlines,
    listener: LiveListener,
    bounds: LiveBounds,
  ) {
    this.#codec = codec;
    this.#deadlines = deadlines;
    this.#listener = listener;
    this.#bounds = bounds;
  }

  get droppedFrames(): number {
    return this.#droppedFrames;
  }

  connect(url: string, headers: Record<string, string>): void {
    const { connectMs } = this.#deadlines;
    this.#wait(connectMs, () => this.#fail('timeout', `no connection within ${connectMs} ms`));
    try {
      const line = openLiveSocket(url, this.#options(headers), (message) => this.#read(message));
      this.#line = line;
      this.#listen(line.socket);
    } catch (error) {
      this.#fail('refused', String(error));
    }
  }

  audio(pcm: Uint8Array): boolean {
    const line = this.#line;
    const isReady = this.#phase === 'ready' && line?.socket.readyState === WebSocket.OPEN;
    if (!isReady || line.socket.bufferedAmount > this.#bounds.bufferedBytesMax) {
      this.#dropFrame(isReady);
      return false;
    }
    this.#stalledSinceMs = null;
    line.sendAscii(this.#codec.audio(pcm));
    return true;
  }

  bargeIn(heard: LivePosition | null): void {
    if (this.#phase === 'ready') this.#send(this.#codec.bargeIn(heard));
  }

  truncate(heard: LivePosition): void {
    if (this.#phase === 'ready') this.#send(this.#codec.truncate(heard));
  }

  toolResult(callId: string, name: string, outputJson: string): void {
    if (this.#phase === 'ready') this.#send(this.#codec.toolResult(callId, name, outputJson));
  }

  pause(): void {
    if (this.#phase === 'ready') this.#line?.socket.pause();
  }

  resume(): void {
    this.#line?.socket.resume();
  }

  close(lingerMs: number): void {
    if (this.#phase === 'closing' || this.#phase === 'over') return;
    this.resume();
    const wasReady = this.#phase === 'ready';
    this.#phase = 'closing';
    this.#stopWaiting();
    if (wasReady && lingerMs > 0) this.#send(this.#codec.close());
    if (wasReady && lingerMs > 0 && this.#codec.owesUsage) this.#wait(lingerMs, () => this.#end());
    else this.#end();
  }

  #options(headers: Record<string, string>): LiveSocketOptions & { closeTimeout: number } {
    return {
      headers,
      perMessageDeflate: false,
      maxPayload: this.#bounds.messageBytesMax,
      closeTimeout: this.#bounds.closeMs,
      // The codec checks what it parses.
      skipUTF8Validation: true,
    };
  }

  #listen(socket: WebSocket): void {
    socket.on('open', () => this.#opened());
    socket.on('unexpected-response', (_request, response) => this.#refused(response));
    // `close` follows, but when the connection was never made.
    socket.on('error', (error) => this.#broken(error));
    socket.on('close', (code, reason) => {
      const text = `closed with ${code}: ${reason.toString()}`;
      this.#fail(kindOfClose(code, reason.toString(), this.#phase === 'ready'), text);
    });
  }

  #opened(): void {
    if (this.#phase !== 'connecting') return;
    this.#phase = 'setting-up';
    const { readyMs } = this.#deadlines;
    this.#wait(readyMs, () => this.#fail('timeout', `not set up within ${readyMs} ms`));
    this.#send(this.#codec.open());
  }

  #read(message: Buffer): void {
    if (this.#phase === 'over') return;
    const { events, replies } = this.#readingOf(message);
    // First: what the listener sends in answer comes after the history.
    this.#send(replies);
    if (this.#phase === 'closing') this.#readLast(events);
    else if (events.length > 0) this.#report(events);
  }

  /** A throw here, on the stack of the socket, would end the thread with all its sessions. */
  #readingOf(message: Buffer): ReturnType<LiveCodec['read']> {
    try {
      return this.#codec.read(message);
    } catch (error) {
      const text = `a message that cannot be read: ${String(error)}`;
      return { events: [{ type: 'failed', kind: 'garbage', text }], replies: [] };
    }
  }

  #report(events: readonly LiveEvent[]): void {
    if (events[0]?.type === 'ready') {
      this.#phase = 'ready';
      this.#stopWaiting();
    }
    const failure = events.findIndex(({ type }) => type === 'failed');
    if (failure >= 0) this.#letGo();
    this.#listener.events(failure < 0 ? events : events.slice(0, failure + 1));
  }

  #readLast(events: readonly LiveEvent[]): void {
    const used = events.filter(({ type }) => usedTypes.has(type));
    if (used.length > 0) this.#listener.events(used);
    if (events.some(({ type }) => type === 'failed') || !this.#codec.owesUsage) this.#end();
  }

  #refused(response: IncomingMessage): void {
    const status = response.statusCode ?? 0;
    let body = '';
    const done = () => this.#fail(kindOfReply(status, body), `HTTP ${status}: ${body}`);
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      body += text;
      if (body.length >= refusalCharactersMax) done();
    });
    // Under the deadline of the connection.
    response.on('close', done);
    response.on('error', done);
  }

  #broken(error: Error): void {
    const isProtocol = 'code' in error && String(error.code).startsWith('WS_ERR_');
    if (isProtocol) this.#fail('garbage', error.message);
    else this.#fail(this.#phase === 'connecting' ? 'connect' : 'closed', error.message);
  }

  #dropFrame(isReady: boolean): void {
    this.#droppedFrames += 1;
    if (!isReady) return;
    const nowMs = awakeMs();
    this.#stalledSinceMs ??= nowMs;
    if (nowMs - this.#stalledSinceMs < this.#bounds.stallMs) return;
    this.#fail('closed', `no audio was taken for ${this.#bounds.stallMs} ms`);
  }

  #send(messages: LiveMessages): void {
    const socket = this.#line?.socket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    const { bufferedBytesMax, controlBytesMax } = this.#bounds;
    for (const message of messages) {
      if (socket.bufferedAmount > bufferedBytesMax + controlBytesMax) {
        // What was said before, such as usage, is told before.
        queueMicrotask(() =>
          this.#fail('closed', `it leaves ${socket.bufferedAmount} bytes unread`),
        );
        return;
      }
      socket.send(message);
    }
  }

  #fail(kind: LiveFailureKind, text: string): void {
    if (this.#phase === 'closing') this.#end();
    if (this.#phase === 'over') return;
    this.#letGo();
    this.#reportLast({ type: 'failed', kind, text: text.slice(0, detailCharactersMax) });
  }

  /** The end that was asked for. */
  #end(): void {
    this.#letGo();
    this.#reportLast({ type: 'ended' });
  }

  /** In a microtask: who caused it has returned by then. */
  #reportLast(event: LiveEvent): void {
    queueMicrotask(() => this.#listener.events([event]));
  }

  /** Ends the session; the socket has a moment to say goodbye. */
  #letGo(): void {
    this.#phase = 'over';
    this.#stopWaiting();
    const socket = this.#line?.socket;
    this.#line = null;
    if (socket?.readyState === WebSocket.OPEN) socket.close(1000);
    else socket?.terminate();
  }

  #wait(ms: number, late: () => void): void {
    this.#stopWaiting();
    this.#timer = new AwakeTimer(ms, late);
  }

  #stopWaiting(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}
