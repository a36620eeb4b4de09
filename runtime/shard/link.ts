// One end of the port between two nodes: frames of one turn leave as one message, answers find
// their asks. A port queues without bound, so each end counts in shared memory what it has read.
import type { MessagePort } from 'node:worker_threads';
import type { ActorLog, Answer, AskFailure } from '../actor/contract.ts';
import { failed, type PendingAsk, type ReplyTo } from '../actor/deadline.ts';
import { TransientMap } from '../transient.ts';
import {
  type AskFrame,
  type Batch,
  type Frame,
  FrameDecoder,
  FrameEncoder,
  frameType,
  type TellFrame,
  transferOf,
} from './wire.ts';

const bytesInFlightMax = 64 * 2 ** 20;
const framesPerBatchMax = 1_024;

/** What is handed to a node for its end of a link; `port` goes into the transfer list. */
export interface LinkEnd {
  /** The node at the other end. */
  node: number;
  port: MessagePort;
  /** Two counters of bytes read, one for each side. */
  bytesRead: SharedArrayBuffer;
  side: 0 | 1;
}

export interface LinkListener {
  /** A batch came, before its frames are told. */
  heard(): void;
  received(link: Link, frame: TellFrame | AskFrame): void;
  closed(link: Link): void;
}

export class Link {
  readonly node: number;
  readonly #port: MessagePort;
  readonly #listener: LinkListener;
  readonly #log: ActorLog;
  readonly #bytesRead: Int32Array;
  readonly #side: 0 | 1;
  readonly #encoder = new FrameEncoder();
  readonly #decoder = new FrameDecoder();
  readonly #asks = new TransientMap<number, PendingAsk>();
  #frames: Frame[] = [];
  #bytesSent = 0;
  #lastKey = 0;
  #flushing = false;
  #closed = false;

  constructor(end: LinkEnd, listener: LinkListener, log: ActorLog) {
    this.node = end.node;
    this.#port = end.port;
    this.#bytesRead = new Int32Array(end.bytesRead);
    this.#side = end.side;
    this.#listener = listener;
    this.#log = log;
  }

  /** Reads from now on; until then the port keeps what comes. */
  open(): void {
    this.#port.on('message', (batch: Batch | null) => this.#read(batch));
    this.#port.on('close', () => this.close());
  }

  /** Sends a message that may be refused. Null: on its way. */
  offer(
    kind: string,
    id: string,
    message: string,
    payload: unknown,
    ask: PendingAsk | null,
  ): AskFailure | null {
    if (this.#closed) return 'unreachable';
    // The counters wrap at 32 bits, their difference does not.
    const read = Atomics.load(this.#bytesRead, 1 - this.#side);
    if (((this.#bytesSent - read) | 0) > bytesInFlightMax) return 'overloaded';
    this.post(kind, id, message, payload, ask);
    return null;
  }

  /** Sends a message that must not be refused; on a closed link its ask is `unreachable`. */
  post(kind: string, id: string, message: string, payload: unknown, ask: PendingAsk | null): void {
    if (ask === null) {
      this.#push([frameType.tell, kind, id, message, payload]);
      return;
    }
    if (this.#closed) {
      ask.settle(failed('unreachable'));
      return;
    }
    this.#lastKey += 1;
    ask.key = this.#lastKey;
    ask.table = this.#asks;
    this.#asks.set(ask.key, ask);
    this.#push([frameType.ask, kind, id, message, payload, ask.key]);
  }

  answer(key: number, answer: Answer<unknown>): void {
    if (answer.ok) this.#push([frameType.reply, key, answer.value]);
    else this.#push([frameType.failure, key, answer.reason]);
  }

  /** Answers all pending asks `unreachable`; nothing is sent or received any more. */
  close(): void {
    if (this.#closed) return;
    // Answers of this turn are still owed to the peer.
    this.#flush();
    this.#closed = true;
    this.#port.close();
    for (const ask of [...this.#asks.values()]) ask.settle(failed('unreachable'));
    this.#listener.closed(this);
  }

  #push(frame: Frame): void {
    if (this.#closed) return;
    this.#frames.push(frame);
    if (this.#frames.length >= framesPerBatchMax) this.#flush();
    else if (!this.#flushing) {
      this.#flushing = true;
      queueMicrotask(this.#flush);
    }
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    const frames = this.#frames;
    if (frames.length === 0 || this.#closed) return;
    this.#frames = [];
    try {
      this.#write(frames);
    } catch {
      this.#writeEach(frames);
    }
  };

  #write(frames: Frame[]): void {
    const batch = this.#encoder.encode(frames);
    this.#bytesSent = (this.#bytesSent + batch.length) | 0;
    if (typeof batch === 'string') this.#port.postMessage(batch);
    else this.#port.postMessage(batch, transferOf(batch));
  }

  /** After a batch that could not be encoded: each frame alone, so that only a bad one is lost. */
  #writeEach(frames: Frame[]): void {
    this.#reset();
    for (const frame of frames) {
      try {
        this.#write([frame]);
      } catch (error) {
        this.#reset();
        this.#unsendable(frame, error);
      }
    }
  }

  #reset(): void {
    this.#encoder.reset();
    this.#port.postMessage(null);
  }

  #unsendable(frame: Frame, error: unknown): void {
    const where = frame[0] === frameType.tell || frame[0] === frameType.ask;
    const named = where ? { kind: frame[1], id: frame[2], message: frame[3] } : {};
    this.#log.error({ err: error, node: this.node, ...named }, 'message is no plain data');
    if (frame[0] === frameType.ask) this.#asks.get(frame[5])?.settle(failed('unreachable'));
    else if (frame[0] === frameType.reply) this.answer(frame[1], failed('actor_crashed'));
  }

  #read(batch: Batch | null): void {
    if (this.#closed) return;
    if (batch === null) {
      this.#decoder.reset();
      return;
    }
    Atomics.add(this.#bytesRead, this.#side, batch.length);
    this.#listener.heard();
    for (const frame of this.#decoder.decode(batch)) {
      if (frame[0] === frameType.reply) {
        this.#asks.get(frame[1])?.settle({ ok: true, value: frame[2] });
      } else if (frame[0] === frameType.failure) {
        this.#asks.get(frame[1])?.settle(failed(frame[2]));
      } else this.#listener.received(this, frame);
    }
  }
}

/** Carries the answer of an actor of this node back over the link that asked. */
export class ReturnPath implements ReplyTo {
  readonly #link: Link;
  readonly #key: number;
  #settled = false;

  constructor(link: Link, key: number) {
    this.#link = link;
    this.#key = key;
  }

  settle(answer: Answer<unknown>): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#link.answer(this.#key, answer);
  }
}
