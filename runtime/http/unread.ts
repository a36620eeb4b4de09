// What a client is still sending that says "Connection: close". uWS closes such a connection behind
// the reply, and over unread bytes that resets it: the client gets EPIPE instead of the refusal. So
// the reply's last byte waits until the body is here, the client falls silent, or its time is up.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { fixedLimits } from '../limits.ts';

type Receive = (chunk: ArrayBuffer, isLast: boolean) => void;

export class UnreadBody {
  readonly #until = performance.now() + fixedLimits.body.unreadMs;
  #receive: Receive | null = null;
  #isOver = false;
  #listener: (() => void) | null = null;
  #silence: NodeJS.Timeout | null = null;
  #chunks = 0;

  constructor(response: HttpResponse) {
    response.onData((chunk, isLast) => {
      this.#chunks += 1;
      const isFlood = this.#chunks > fixedLimits.body.chunksMax;
      if (isLast || isFlood || performance.now() > this.#until) this.leave();
      else this.#silence?.refresh();
      this.#receive?.(chunk, isLast);
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Who reads the body, in place of the response itself. */
  onData(receive: Receive): void {
    this.#receive = receive;
  }

  /** Runs once, when nothing more has to be waited for. */
  onOver(listener: () => void): void {
    this.#listener = listener;
    this.#silence = setTimeout(() => this.leave(), fixedLimits.body.silenceMs);
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#silence !== null) clearTimeout(this.#silence);
    this.#listener?.();
    this.#listener = null;
  }
}

/** Of a request whose connection uWS closes by itself; null where nothing has to be waited for. */
export function unreadBody(request: HttpRequest, response: HttpResponse): UnreadBody | null {
  // So does uWS tell it from "keep-alive".
  if (request.getHeader('connection').length !== 'close'.length) return null;
  const announced = request.getHeader('content-length');
  const isChunked = request.getHeader('transfer-encoding') !== '';
  const isEmpty = announced === '' ? !isChunked : announced === '0';
  return isEmpty ? null : new UnreadBody(response);
}
