// What the outbound guard is to its callers. Every URL that a user, a document, a provider's reply
// or a redirect supplies goes this way. The README beside it has rules and reasons.

/** What a fetch is for: it may be narrower than the guard, never wider. Declared as a constant. */
export interface OutboundUse {
  /** For the log. */
  readonly name: string;
  /** The whole of it: names, redirects and the body. */
  readonly totalMs: number;
  /** The longest body, announced or read. */
  readonly bytesMax: number;
  /** `https` leaves out http; an exception that names a port opens that again. */
  readonly schemes?: 'web' | 'https';
  /** `web` is 80 and 443; `high` is https on 443 and 1024 to 65535, for remote MCP servers. */
  readonly ports?: 'web' | 'high';
  /** At most 5, which is the default. Beyond them the source is refused. */
  readonly redirectsMax?: number;
  /** Whether a redirect may leave the origin; the default is `anywhere`. */
  readonly redirectsTo?: 'anywhere' | 'same_origin';
  /** Shorter deadlines than the guard's own. */
  readonly deadlines?: Partial<OutboundDeadlines>;
}

export interface OutboundDeadlines {
  readonly namesMs: number;
  readonly connectMs: number;
  /** From the connection to the end of the answer's head: the request is sent in it. */
  readonly headersMs: number;
  /** Between two reads of the body, while somebody waits for them. */
  readonly idleMs: number;
}

/** A provider whose own files are fetched: nothing but its host and these may be named. */
export interface OutboundProvider {
  /** Its host and port are open even where they are of a private network. */
  readonly baseUrl: string;
  /** `files.example.com`, or `*.example.com` for every name below it. They have to be public. */
  readonly mediaHosts: readonly string[];
}

export interface OutboundCall {
  readonly signal: AbortSignal;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  /** Sent to whichever origin is asked: none of them may be a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent to this origin alone, and not again once a redirect has left it. */
  readonly credentials?: OutboundCredentials;
  /** Sent again by a 307 or 308 of the same origin; elsewhere that is refused. */
  readonly body?: string | Buffer;
  readonly provider?: OutboundProvider;
}

export interface OutboundCredentials {
  /** As `new URL(…).origin` has it. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * `source_refused`: a rule of the guard. `source_unreachable`: no such name, no connection, or no
 * HTTP. `aborted`: by the signal of the caller.
 */
export type OutboundReason =
  | 'source_refused'
  | 'source_unreachable'
  | 'source_too_large'
  | 'timeout'
  | 'aborted';

export interface OutboundRefusal {
  readonly ok: false;
  readonly reason: OutboundReason;
  /** One sentence for whoever named the URL; it tells no address. */
  readonly message: string;
}

/** An answer of any status that is no redirect; its body waits to be read. */
export interface OutboundAnswer {
  readonly ok: true;
  readonly status: number;
  /** Names in lower case; several of one name are joined by commas. Cookies are left out. */
  readonly headers: ReadonlyMap<string, string>;
  /** The media type in lower case, without its parameters; null: none is said. */
  readonly type: string | null;
  /** Bytes of the body as announced; null: that is not known. */
  readonly length: number | null;
  /** Where it came from, after all redirects. */
  readonly url: string;
  /**
   * Read once, chunk by chunk, with backpressure. Where the body breaks off it throws an
   * `OutboundFault`, so nobody takes a part for the whole. To stop early closes the connection.
   */
  readonly body: AsyncIterable<Buffer>;
  /** The whole body in memory: for uses whose `bytesMax` is small. */
  bytes(): Promise<OutboundBytes>;
  /** Closes the connection; a caller that leaves the body unread has to call it. */
  close(): void;
}

export type OutboundBytes = { readonly ok: true; readonly bytes: Buffer } | OutboundRefusal;
export type OutboundReply = OutboundAnswer | OutboundRefusal;

/** `url` is the URL as it was parsed. */
export type OutboundCheck = { readonly ok: true; readonly url: string } | OutboundRefusal;

export interface Outbound {
  /** Every expected outcome is in the reply; it throws for bugs of its caller alone. */
  fetch(url: string, use: OutboundUse, call: OutboundCall): Promise<OutboundReply>;
  /** URL and addresses as they are now, without a connection. A later fetch judges anew. */
  check(
    url: string,
    use: OutboundUse,
    call: Pick<OutboundCall, 'signal' | 'provider'>,
  ): Promise<OutboundCheck>;
  /** Ends what runs; later calls are refused. */
  close(): void;
}
