// Plays a script of SSE events onto one response: pauses, backpressure and faults. It knows no wire
// format: a family renders the events, the player only decides when and whether they leave.
import type { HttpResponse } from 'uWebSockets.js';
import type { Directive } from './directive.ts';
import type { TimerWheel, WheelEntry } from './wheel.ts';

/** A whole stream, rendered on demand. Events are numbered from 0. */
export interface Script {
  headers: readonly (readonly [string, string])[];
  count: number;
  /** Events from this number on leave without a pause (terminators). */
  pacedCount: number;
  /** Bytes leave in a write of their own. */
  event(index: number): string | Uint8Array;
  /** The format's own error event, with its number where the format counts. */
  errorEvent(index: number): string;
  /** How the format says in an answer that the answer failed, where that is another event. */
  failedEvent?(index: number): string;
  garbageEvent: string;
}

const packetCharacters = 1400;

export class Player implements WheelEntry {
  dueTick = 0;
  cancelled = false;
  readonly #res: HttpResponse;
  readonly #script: Script;
  readonly #directive: Directive;
  readonly #wheel: TimerWheel;
  readonly #onEnd: () => void;
  #index = 0;
  #dueMs = 0;
  #blocked = false;
  /** Second half of a split event, on its way in a write of its own. */
  #rest: Uint8Array | null = null;

  constructor(
    res: HttpResponse,
    script: Script,
    directive: Directive,
    wheel: TimerWheel,
    onEnd: () => void,
  ) {
    this.#res = res;
    this.#script = script;
    this.#directive = directive;
    this.#wheel = wheel;
    this.#onEnd = onEnd;
  }

  start(): void {
    this.#res.onWritable(() => {
      if (this.#blocked) {
        this.#blocked = false;
        this.fire();
      }
      return true;
    });
    if (this.#directive.firstMs > 0) {
      this.#wait(this.#directive.firstMs);
    } else {
      this.#dueMs = this.#directive.gapMs > 0 ? performance.now() : 0;
      this.fire();
    }
  }

  /** The client is gone: nothing may touch the response any more. */
  stop(): void {
    this.cancelled = true;
  }

  fire(): void {
    if (this.cancelled) return;
    this.#res.cork(() => this.#run());
    if (this.cancelled) this.#onEnd();
  }

  #run(): void {
    if (this.#index === 0 && this.#rest === null && !this.#begin()) return;
    while (this.#index < this.#script.count) {
      if (this.#rest === null && this.#faultHits() && this.#applyFault()) return;
      const roomLeft = this.#res.write(this.#nextWrite());
      if (this.#index >= this.#script.count) break;
      if (this.#directive.gapMs > 0 && this.#index < this.#script.pacedCount) {
        this.#wait(this.#directive.gapMs);
        return;
      }
      if (!roomLeft) {
        this.#blocked = true;
        return;
      }
    }
    this.cancelled = true;
    this.#res.end();
  }

  /** A paced event alone; at full speed as many as a network packet would take. */
  #nextWrite(): string | Uint8Array {
    const rest = this.#rest;
    this.#rest = null;
    const first = rest ?? this.#script.event(this.#index);
    this.#index += 1;
    if (typeof first !== 'string') return first;
    let text = first;
    const paced = this.#directive.gapMs > 0 && this.#index < this.#script.pacedCount;
    if (paced) return text;
    while (this.#index < this.#script.count && text.length < packetCharacters) {
      if (this.#faultHits()) return text;
      const more = this.#script.event(this.#index);
      if (typeof more !== 'string') return text;
      text += more;
      this.#index += 1;
    }
    return text;
  }

  /** Writes the head, unless a fault at event 0 forbids every byte; false: nothing follows. */
  #begin(): boolean {
    const { fault, at } = this.#directive;
    if (at === 0 && fault === 'stall') return false;
    if (at === 0 && fault === 'cut') {
      this.#close();
      return false;
    }
    this.#res.writeStatus('200 OK');
    for (const [name, value] of this.#script.headers) this.#res.writeHeader(name, value);
    return true;
  }

  #faultHits(): boolean {
    const { fault, at } = this.#directive;
    if (fault === null) return false;
    return fault === 'split_utf8' ? this.#index >= at : this.#index === at;
  }

  /** True: the player is done with this turn. */
  #applyFault(): boolean {
    switch (this.#directive.fault) {
      case 'cut':
        this.#close();
        return true;
      case 'stall':
        return true;
      case 'error':
      case 'failed':
        this.cancelled = true;
        this.#res.end(this.#lastEvent());
        return true;
      case 'garbage':
        this.#res.write(this.#script.garbageEvent);
        return false;
      case 'split_utf8': {
        const bytes = Buffer.from(this.#script.event(this.#index));
        const cut = splitPoint(bytes);
        this.#res.write(bytes.subarray(0, cut));
        this.#rest = bytes.subarray(cut);
        this.#wait(1);
        return true;
      }
      default:
        return false;
    }
  }

  #lastEvent(): string {
    const { failedEvent, errorEvent } = this.#script;
    const failed = this.#directive.fault === 'failed' ? failedEvent : undefined;
    return (failed ?? errorEvent)(this.#index);
  }

  /** Closing inside a cork would drop what was written before, so it happens on the next turn. */
  #close(): void {
    setImmediate(() => {
      if (this.cancelled) return;
      this.cancelled = true;
      this.#onEnd();
      this.#res.close();
    });
  }

  #wait(pauseMs: number): void {
    const base = this.#dueMs === 0 ? performance.now() : this.#dueMs;
    this.#dueMs = base + pauseMs;
    this.#wheel.schedule(this, this.#dueMs);
  }
}

/** Inside the first character of several bytes; without one, the middle. */
function splitPoint(bytes: Uint8Array): number {
  const lead = bytes.findIndex((byte) => byte >= 0xc0);
  return lead >= 0 ? lead + 1 : bytes.length >> 1;
}
