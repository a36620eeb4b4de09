// What a simulated family is to the server that runs it: HTTP routes, sockets, and what its
// handlers are given. It knows no wire format.
import type { HttpRequest } from 'uWebSockets.js';
import type { Directive, Refusal } from './directive.ts';
import type { Payments } from './payments/state.ts';
import type { Script } from './player.ts';
import type { Poured } from './pourer.ts';
import type { SearchTurns } from './search/turns.ts';
import type { VideoJobs } from './video/jobs.ts';
import type { TimerWheel } from './wheel.ts';

/** One request as a family's handler sees it. Exactly one of the four ends is called. */
export interface SimExchange {
  readonly keyAccepted: boolean;
  /** Status that an outage forces on this request (once it has begun: of its model), or null. */
  readonly outageStatus: Refusal | null;
  /**
   * Parsed JSON; undefined when the body was not JSON. A `Buffer` for routes that read bytes, texts
   * by name for those that read a form or the query of a URL.
   */
  readonly body: unknown;
  /** What the family's `keep` took from the request line and the headers. */
  readonly kept: Readonly<Record<string, string>>;
  /** The jobs of this simulator. */
  readonly videos: VideoJobs;
  /** The payment providers of this simulator. */
  readonly payments: Payments;
  /** How often directives of searches have held, and those that wait. */
  readonly searches: SearchTurns;
  /** The same for the same seed and request number. */
  id(length: number): string;
  /** Counts the request for a model from here on. An outage may hit its group as well. */
  begin(model: string, group?: string): void;
  reply(status: number, headers: Record<string, string>, body: string, delayMs?: number): void;
  play(script: Script, directive: Directive): void;
  pour(poured: Poured): void;
  /** `stall`: silence; `cut`: the connection is closed without an answer. */
  leave(how: 'stall' | 'cut'): void;
}

export interface SimFamily {
  readonly name: string;
  /** The key that a request carries, wherever this provider wants it. */
  keyOf(req: HttpRequest): string;
  /** The request line and headers are gone once the body is read: what handlers need of them. */
  keep?(req: HttpRequest): Record<string, string>;
  readonly routes: readonly {
    method: 'get' | 'post';
    path: string;
    /**
     * Where the body is no JSON: the handler gets its bytes, the members of a form, or those of the
     * URL's query.
     */
    reads?: 'bytes' | 'form' | 'query';
    /** False: it is for another family with this path. Absent: for this one. */
    isFor?(req: HttpRequest): boolean;
    handle(exchange: SimExchange): void;
  }[];
}

export interface SimReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface SimSocketFamily {
  readonly name: string;
  readonly paths: readonly string[];
  keyOf(req: HttpRequest): string;
  /** What of the request line and the headers the session needs. */
  keep(req: HttpRequest): Record<string, string>;
  connect(upgrade: SimUpgrade): SimVerdict;
}

export interface SimUpgrade {
  readonly keyAccepted: boolean;
  readonly kept: Readonly<Record<string, string>>;
  /** A directive that the control endpoint or the query gave to this connection; or empty. */
  readonly directiveText: string;
  outageStatus(model: string): Refusal | null;
}

/** `stall`: the upgrade is never answered. */
export type SimVerdict =
  | { refuse: SimReply }
  | { model: string; open(link: SimLink): SimSession }
  | 'stall';

/** A connection as a session sees it; after its end nothing that is sent arrives, or throws. */
export interface SimLink {
  readonly wheel: TimerWheel;
  send(text: string, isBinary: boolean): void;
  /** Everything that `write` sends leaves in as few packets as fit. */
  cork(write: () => void): void;
  close(code: number, reason: string): void;
  /** Without a close frame. */
  cut(): void;
  id(length: number): string;
  /** For those who ask about the simulator. */
  noteSetup(body: unknown): void;
}

export interface SimSession {
  /** The bytes are valid only until it returns. */
  message(bytes: Buffer): void;
  closed(): void;
  /** What the control endpoint asks of sessions that run. */
  act(directiveText: string): void;
  /** What the client sent, for tests: counts and the last of each kind that matters. */
  view(): Record<string, unknown>;
}
