// The deadlines of all asks of one node, in a hashed timing wheel: an ask costs no own timer.
// A deadline never fires early and at most about two ticks late, as long as the event loop turns.
// After a standstill what has arrived is read before anybody is told that time is over.
import { afterReading } from '../awake.ts';
import type { TransientMap } from '../transient.ts';
import type { Answer, AskFailure } from './contract.ts';

const tickMs = 8;
const slotCount = 512;
/** The loop did not turn for so long: answers may lie unread. */
const lateTicks = 12;

/** Who gets the answer to one message: a promise on this node, or a caller on another one. */
export interface ReplyTo {
  settle(answer: Answer<unknown>): void;
}

const failures: Record<AskFailure, Answer<never>> = {
  timeout: { ok: false, reason: 'timeout' },
  overloaded: { ok: false, reason: 'overloaded' },
  actor_crashed: { ok: false, reason: 'actor_crashed' },
  stopped: { ok: false, reason: 'stopped' },
  unreachable: { ok: false, reason: 'unreachable' },
};

/** The one answer object of a failure. */
export function failed(reason: AskFailure): Answer<never> {
  return failures[reason];
}

/** One ask on its way. It costs a promise and a place in the wheel only if it has to wait. */
export class PendingAsk implements ReplyTo {
  answer: Answer<unknown> | null = null;
  resolve: ((answer: Answer<unknown>) => void) | null = null;
  previous: PendingAsk | null = null;
  next: PendingAsk | null = null;
  dueTick = 0;
  wheel: DeadlineWheel | null = null;
  /** The table that finds this ask by `key` when the answer comes from another node. */
  table: TransientMap<number, PendingAsk> | null = null;
  key = 0;

  /** The first answer counts; later ones are ignored. */
  settle(answer: Answer<unknown>): void {
    if (this.answer !== null) return;
    this.answer = answer;
    this.table?.delete(this.key);
    this.wheel?.remove(this);
    this.resolve?.(answer);
  }
}

/** Hashed timing wheel (Varghese and Lauck, 1987) of doubly linked slots: O(1) in and out. */
export class DeadlineWheel {
  readonly #nowMs: () => number;
  readonly #slots: (PendingAsk | null)[] = new Array(slotCount).fill(null);
  #tick = 0;
  #count = 0;
  #timer: NodeJS.Timeout | null = null;
  #held = false;
  #isReading = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get waitingCount(): number {
    return this.#count;
  }

  /** Resolves with the answer, or with `timeout` after `timeoutMs`. */
  wait(ask: PendingAsk, timeoutMs: number): Promise<Answer<unknown>> {
    if (ask.answer !== null) return Promise.resolve(ask.answer);
    ask.dueTick = Math.floor((this.#nowMs() + timeoutMs) / tickMs) + 1;
    ask.wheel = this;
    this.#insert(ask);
    return new Promise((resolve) => {
      ask.resolve = resolve;
    });
  }

  remove(ask: PendingAsk): void {
    if (ask.wheel !== this) return;
    const { previous, next } = ask;
    if (previous === null) this.#slots[ask.dueTick % slotCount] = next;
    else previous.next = next;
    if (next !== null) next.previous = previous;
    ask.previous = null;
    ask.next = null;
    ask.wheel = null;
    this.#count -= 1;
  }

  #insert(ask: PendingAsk): void {
    const slot = ask.dueTick % slotCount;
    const first = this.#slots[slot] ?? null;
    ask.next = first;
    if (first !== null) first.previous = ask;
    this.#slots[slot] = ask;
    this.#count += 1;
    if (this.#held) return;
    // Somebody waits, so the process must live until the answer or the deadline.
    this.#held = true;
    if (this.#timer === null) {
      this.#tick = Math.floor(this.#nowMs() / tickMs);
      this.#timer = setInterval(() => this.#advance(), tickMs);
    } else this.#timer.ref();
  }

  #advance(): void {
    const now = Math.floor(this.#nowMs() / tickMs);
    const late = now - this.#tick;
    if (late > lateTicks && !this.#isReading) {
      this.#isReading = true;
      afterReading(() => this.#advance());
      return;
    }
    this.#isReading = false;
    const steps = Math.min(late, slotCount);
    for (let tick = now - steps + 1; tick <= now; tick += 1) this.#expire(tick % slotCount, now);
    this.#tick = now;
    if (this.#count > 0 || this.#timer === null) return;
    if (this.#held) {
      this.#held = false;
      this.#timer.unref();
    } else {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  #expire(slot: number, now: number): void {
    let ask = this.#slots[slot] ?? null;
    while (ask !== null) {
      const next: PendingAsk | null = ask.next;
      if (ask.dueTick <= now) ask.settle(failures.timeout);
      ask = next;
    }
  }
}
