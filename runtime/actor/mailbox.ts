// The queue of one actor: a linked FIFO, so that an idle actor keeps no array behind it.
// It has no bound of its own: the cell refuses before it pushes, except for timers.
import type { ReplyTo } from './deadline.ts';

/** One queued message; a batch kind is handed these as its entries. */
export class Envelope {
  readonly message: string;
  readonly payload: unknown;
  readonly replyTo: ReplyTo | null;
  next: Envelope | null = null;

  constructor(message: string, payload: unknown, replyTo: ReplyTo | null) {
    this.message = message;
    this.payload = payload;
    this.replyTo = replyTo;
  }

  reply(value: unknown): void {
    this.replyTo?.settle({ ok: true, value });
  }
}

export class Mailbox {
  length = 0;
  #head: Envelope | null = null;
  #tail: Envelope | null = null;

  push(envelope: Envelope): void {
    if (this.#tail === null) this.#head = envelope;
    else this.#tail.next = envelope;
    this.#tail = envelope;
    this.length += 1;
  }

  shift(): Envelope | null {
    const envelope = this.#head;
    if (envelope === null) return null;
    this.#head = envelope.next;
    if (this.#head === null) this.#tail = null;
    // An old envelope that still points at a young one would drag it into the old generation.
    envelope.next = null;
    this.length -= 1;
    return envelope;
  }
}
