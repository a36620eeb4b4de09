// One HTTP exchange: its id, the headers that outlive the first turn, and its end.
// uWS frees the request when the route handler returns and the response when it is complete or
// aborted; `request` and `response` are null from then on, and touching them earlier is the bug.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import type { AddressReader } from './address.ts';
import type { Exchange } from './route.ts';
import { type UnreadBody, unreadBody } from './unread.ts';

const forwardedFor = 'x-forwarded-for';
const subprotocols = 'sec-websocket-protocol';
/** Headers that can be read after the first turn, on every route: each costs a native call. */
const usualHeaders = ['content-type', 'origin', forwardedFor] as const;

/** Lists whose members may stand in a line each: RFC 6455, 11.3.4, and RFC 9110, 5.3. */
const lists: ReadonlySet<string> = new Set([subprotocols, 'if-match', 'if-none-match']);

const requestIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;
const headerNamePattern = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;

/** Names of headers and their place in a snapshot; one per route. */
export interface HeaderTable {
  names: readonly string[];
  indexOf: ReadonlyMap<string, number>;
}

/** The usual headers and those that a route declares. */
export function createHeaderTable(declared: readonly string[]): HeaderTable {
  const names = [...new Set([...usualHeaders, ...declared.map((name) => name.toLowerCase())])];
  return { names, indexOf: new Map(names.map((name, index) => [name, index])) };
}

/** What the kernel has to know of an exchange that is over. */
export interface ExchangeOwner {
  addresses: AddressReader;
  finished(exchange: HttpExchange): void;
}

export class HttpExchange implements Exchange {
  readonly requestId: string;
  readonly method: string;
  /** The route's path, or null where no route was found. */
  readonly routePath: string | null;
  readonly startedAt = performance.now();
  request: HttpRequest | null;
  response: HttpResponse | null;
  aborted = false;
  /** The status that was sent; 0 before. */
  status = 0;
  /** Set when so much of the body may come that it is not waited for. */
  mustClose = false;
  /** Set when more of a body may come than is read: the client is told to close, and uWS drops
   * what it sends until then. Closing first would reset the connection before it has our reply. */
  mustLinger = false;
  /** Set when the connection is to carry no further request; the client is told to close it. */
  isLast = false;
  /** Set when "100 Continue" took the one status line that uWS writes: the next is text. */
  isContinued = false;
  /** Set when the key is there and blank: it is told as such, others as if they were not there. */
  hasBlankKey = false;
  /** Set when cookies stand in several lines, which mean what one of all of them does. */
  hasCookieLines = false;
  /** The rest of a body behind which the connection will be closed. */
  readonly unread: UnreadBody | null;
  extraHeaders: [name: string, value: string][] | null = null;
  readonly #owner: ExchangeOwner;
  readonly #headers: HeaderTable;
  #snapshot: string[] | null = null;
  #path: string | null = null;
  #clientAddress: string | null = null;
  #abortListener: (() => void) | null = null;
  #finishListener: (() => void) | null = null;
  #isOver = false;

  constructor(
    owner: ExchangeOwner,
    headers: HeaderTable,
    method: string,
    routePath: string | null,
    response: HttpResponse,
    request: HttpRequest,
  ) {
    this.#owner = owner;
    this.#headers = headers;
    this.method = method;
    this.routePath = routePath;
    this.response = response;
    this.request = request;
    this.unread = unreadBody(request, response);
    const asked = request.getHeader('x-request-id');
    this.requestId = asked !== '' && requestIdPattern.test(asked) ? asked : randomUUID();
    response.onAborted(() => this.abort());
  }

  get path(): string {
    this.#path ??= this.request?.getUrl() ?? '';
    return this.#path;
  }

  get query(): string {
    return this.request?.getQuery() ?? '';
  }

  get clientAddress(): string {
    if (this.#clientAddress === null) {
      const peer = this.response?.getRemoteAddress();
      if (peer === undefined) return '';
      const { request } = this;
      const forwarded =
        request === null ? this.header(forwardedFor) : this.#read(request, forwardedFor);
      this.#clientAddress = this.#owner.addresses.clientAddress(peer, forwarded);
    }
    return this.#clientAddress;
  }

  header(name: string): string | undefined {
    if (this.hasBlankKey && name === 'idempotency-key') return '';
    const { request } = this;
    if (request !== null) {
      if (lists.has(name)) return joinedLines(request, name) || undefined;
      if (this.hasCookieLines && name === 'cookie') return joinedLines(request, name, '; ');
      return request.getHeader(name) || undefined;
    }
    const index = this.#headers.indexOf.get(name);
    return index === undefined ? undefined : this.#snapshot?.[index] || undefined;
  }

  setHeader(name: string, value: string): void {
    assert(headerNamePattern.test(name), 'header names are lower-case tokens');
    this.extraHeaders ??= [];
    this.extraHeaders.push([name, value]);
  }

  onAbort(listener: () => void): void {
    if (this.aborted) listener();
    else if (!this.#isOver) this.#abortListener = chain(this.#abortListener, listener);
  }

  onFinish(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#finishListener = chain(this.#finishListener, listener);
  }

  /** The route handler returns: copies what may still be asked for. */
  leaveFirstTurn(): void {
    const request = this.request;
    if (request === null) return;
    if (this.response !== null) {
      this.#path ??= request.getUrl();
      this.#snapshot = this.#headers.names.map((name) => this.#read(request, name));
    }
    this.request = null;
  }

  /** The client has gone, or the connection was closed under it. */
  abort(): void {
    if (this.#isOver) return;
    this.aborted = true;
    this.response = null;
    this.#abortListener?.();
    this.finish(499);
  }

  /** The reply is complete; `status` counts in the metrics. */
  finish(status: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.status === 0) this.status = status;
    this.response = null;
    this.#abortListener = null;
    this.#owner.finished(this);
    this.#finishListener?.();
    this.#finishListener = null;
  }

  /** uWS gives the first of several lines: that one a client may have written before its proxy. */
  #read(request: HttpRequest, name: string): string {
    if (this.hasCookieLines && name === 'cookie') return joinedLines(request, name, '; ');
    const isList = lists.has(name) || (name === forwardedFor && this.#owner.addresses.hasProxies);
    return isList ? joinedLines(request, name) : request.getHeader(name);
  }
}

function joinedLines(request: HttpRequest, name: string, separator = ','): string {
  const lines: string[] = [];
  request.forEach((each, value) => {
    if (each === name) lines.push(value);
  });
  return lines.join(separator);
}

function chain(first: (() => void) | null, second: () => void): () => void {
  if (first === null) return second;
  return () => {
    first();
    second();
  };
}
