// What the readers of event-streaming families share: the body of one response is server-sent
// events, or one JSON document from a server that ignored `stream`. The first character decides.
import type { FramedTexts, ModelEvent } from '../../model/events.ts';
import { plainFailure } from '../../transport/refusal.ts';
import { SseDecoder, type SseHandler } from '../../transport/sse.ts';
import type { StreamReader } from './contract.ts';

/** A whole document longer than this is nonsense. */
const jsonBytesMax = 8 * 1024 * 1024;
const brace = 0x7b;
const bracket = 0x5b;
/** White space and the bytes of a byte order mark: they decide nothing. */
const undecided: ReadonlySet<number> = new Set([9, 10, 13, 32, 0xef, 0xbb, 0xbf]);
const none: ModelEvent[] = [];

/** A family gives what an event is, what a whole document is, and what an early end is. */
export abstract class BodyReader implements StreamReader, SseHandler {
  readonly #decoder: SseDecoder;
  readonly #openers: readonly number[];
  #mode: 'unknown' | 'sse' | 'json' = 'unknown';
  #jsonParts: Uint8Array[] = [];
  #jsonBytes = 0;
  #events: ModelEvent[] = [];
  #end: 'finished' | 'failed' | null = null;

  /**
   * `counter`: the member that numbers events, as in `"sequence_number":`; see `SseDecoder`.
   * `lists`: whether the document may be a list.
   */
  constructor(options: { counter?: string; lists?: boolean } = {}) {
    this.#decoder = new SseDecoder(this, options.counter);
    this.#openers = options.lists === true ? [brace, bracket] : [brace];
  }

  abstract event(data: string, type: string): string | null;
  abstract probe(data: string, type: string): string | null;
  abstract text(text: string): void;
  abstract texts(pieces: readonly string[], framed: FramedTexts | null): void;
  /** The whole document; it ends in `finish` or `fail`. */
  protected abstract readDocument(document: object): void;
  /** The body ended properly, without the format's terminator; it ends in `finish` or `fail`. */
  protected abstract endEarly(): void;

  get finished(): boolean {
    return this.#end === 'finished';
  }

  /** Nothing more is read. */
  protected get over(): boolean {
    return this.#end !== null;
  }

  push(bytes: Uint8Array): ModelEvent[] {
    if (this.#mode === 'sse') this.#decoder.push(bytes);
    else if (this.#end === null) this.#pushUndecided(bytes);
    this.flushRest();
    return this.#take();
  }

  end(): ModelEvent[] {
    if (this.#end !== null) return none;
    if (this.#mode === 'json') this.#endDocument();
    else this.endEarly();
    return this.#take();
  }

  overflow(): void {
    this.fail('garbage', 'an event is too long');
  }

  protected add(event: ModelEvent): void {
    this.#events.push(event);
  }

  protected addAll(events: readonly ModelEvent[]): void {
    for (const event of events) this.#events.push(event);
  }

  /** Text deltas mean something else from here on. */
  protected forgetTemplate(): void {
    this.#decoder.forgetTemplate();
  }

  /** Reads a last event that no blank line ends. */
  protected endEvents(): void {
    this.#decoder.end();
  }

  /** What a family has put off until the end of a read; what ends the answer comes after it. */
  protected flushRest(): void {}

  /** What comes after it is not read. */
  protected finish(): void {
    this.#stop('finished');
  }

  protected fail(kind: 'cut' | 'garbage', detail: string): void {
    this.failWith({ type: 'failure', failure: plainFailure(kind, detail) });
  }

  /** Null: the events that were added say it already. */
  protected failWith(failure: ModelEvent | null): void {
    this.flushRest();
    this.#stop('failed');
    if (failure !== null) this.#events.push(failure);
  }

  #stop(end: 'finished' | 'failed'): void {
    this.#end = end;
    this.#jsonParts = [];
    this.#decoder.stop();
  }

  #pushUndecided(bytes: Uint8Array): void {
    const start = this.#mode === 'json' ? 0 : bytes.findIndex((byte) => !undecided.has(byte));
    if (this.#mode === 'unknown' && start >= 0) {
      this.#mode = this.#openers.includes(bytes[start] ?? 0) ? 'json' : 'sse';
    }
    if (this.#mode !== 'json') {
      this.#decoder.push(bytes);
      return;
    }
    const part = Uint8Array.from(bytes.subarray(start));
    this.#jsonParts.push(part);
    this.#jsonBytes += part.length;
    if (this.#jsonBytes > jsonBytesMax) this.fail('garbage', 'the body is too long');
  }

  #endDocument(): void {
    const document = parseJson(Buffer.concat(this.#jsonParts).toString());
    this.#jsonParts = [];
    if (typeof document === 'object' && document !== null) this.readDocument(document);
    else this.fail('cut', 'the JSON body is not complete');
  }

  #take(): ModelEvent[] {
    const events = this.#events;
    if (events.length === 0) return none;
    this.#events = [];
    return events;
  }
}

/** Undefined: not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
