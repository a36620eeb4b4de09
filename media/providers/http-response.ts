// The response of one HTTP/1.1 exchange, from bytes that are cut anywhere (RFC 9112). It knows no
// socket. Pieces of the body are views of what was read: whoever keeps one copies it.

export type ResponseHeaders = Record<string, string | string[]>;

export interface ResponseSink {
  /** The head of the response; heads with a status below 200 are passed over. */
  head(status: number, headers: ResponseHeaders): void;
  data(piece: Buffer): void;
}

type State =
  | 'head'
  | 'length'
  | 'until-close'
  | 'chunk-size'
  | 'chunk-extension'
  | 'chunk-line-end'
  | 'chunk-data'
  | 'chunk-end'
  | 'chunk-end-feed'
  | 'trailer'
  | 'over';

const headBytesMax = 64 * 1_024;
/** Extensions of a chunk, or trailers: nobody reads them. */
const unreadBytesMax = 16 * 1_024;
/** Sizes beyond it are nonsense, and would not be exact. */
const sizeDigitsMax = 12;
const carriageReturn = 13;
const lineFeed = 10;
const semicolon = 59;
const headEnd = '\r\n\r\n';
const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: |$)/;
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const digits = /^\d{1,15}$/;

export class ResponseParser {
  readonly #sink: ResponseSink;
  #state: State = 'head';
  /** What there is of an unfinished head. */
  #head = '';
  /** Of the body or its chunk that is still to come. */
  #left = 0;
  #sizeDigits = 0;
  #unreadBytes = 0;
  /** Bytes of the trailer line that is being read. */
  #lineBytes = 0;
  #keepsOpen = true;
  #idleMs: number | null = null;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** The response is whole. */
  get isOver(): boolean {
    return this.#state === 'over';
  }

  /** Whether another request may be sent on the connection behind the whole response. */
  get keepsOpen(): boolean {
    return this.#keepsOpen;
  }

  /** How long the server says that it keeps an idle connection; null: it does not say. */
  get idleMs(): number | null {
    return this.#idleMs;
  }

  /**
   * Reads on, as far as to the end of the response; how many bytes that were.
   * @throws Error what is no response, in words for the log
   */
  push(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#state !== 'over') at = this.#step(bytes, at);
    return at;
  }

  /** The connection has ended; false: within the response. */
  end(): boolean {
    if (this.#state === 'until-close') this.#state = 'over';
    return this.#state === 'over';
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at);
      case 'length':
        return this.#readData(bytes, at, 'over');
      case 'chunk-data':
        return this.#readData(bytes, at, 'chunk-end');
      case 'until-close':
        this.#sink.data(bytes.subarray(at));
        return bytes.length;
      case 'chunk-size':
        return this.#readSize(bytes, at);
      case 'trailer':
        return this.#readTrailer(bytes, at);
      default:
        return this.#readByte(bytes[at] ?? 0, at);
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const before = this.#head.length;
    const head = this.#head + bytes.toString('latin1', at);
    const end = head.indexOf(headEnd, Math.max(0, before - headEnd.length));
    if (end > headBytesMax || (end < 0 && head.length > headBytesMax)) fail('a head too long');
    if (end < 0) {
      this.#head = head;
      return bytes.length;
    }
    this.#head = '';
    this.#takeHead(head.slice(0, end));
    return at + end + headEnd.length - before;
  }

  #takeHead(head: string): void {
    const [first = '', ...lines] = head.split('\r\n');
    const [, minor, code = ''] = statusLine.exec(first) ?? fail('no status line');
    const headers = readHeaders(lines);
    const status = Number(code);
    if (status === 101) fail('another protocol');
    if (status < 200) return;
    const options = tokensOf(headers.connection);
    this.#keepsOpen = minor === '1' ? !options.includes('close') : options.includes('keep-alive');
    this.#idleMs = idleMsOf(headers['keep-alive']);
    this.#beginBody(status, headers);
    this.#sink.head(status, headers);
  }

  /** Which bytes are the body: RFC 9112, 6.3. */
  #beginBody(status: number, headers: ResponseHeaders): void {
    const length = headers['content-length'];
    if (status === 204 || status === 304) this.#state = 'over';
    else if (headers['transfer-encoding'] !== undefined) {
      const codings = tokensOf(headers['transfer-encoding']);
      if (codings.length !== 1 || codings[0] !== 'chunked') fail('an unknown transfer coding');
      // Another length beside it is an attempt to smuggle: the connection is not used again.
      if (length !== undefined) this.#keepsOpen = false;
      this.#beginChunk();
    } else if (length !== undefined) {
      const values = new Set(tokensOf(length));
      const [value = ''] = values;
      if (values.size !== 1 || !digits.test(value)) fail('a length that is none');
      this.#left = Number(value);
      this.#state = this.#left === 0 ? 'over' : 'length';
    } else {
      this.#keepsOpen = false;
      this.#state = 'until-close';
    }
  }

  #readData(bytes: Buffer, at: number, next: State): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    // First: who is given the last piece may ask whether there is more.
    if (this.#left === 0) this.#state = next;
    this.#sink.data(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    return end;
  }

  #beginChunk(): void {
    this.#state = 'chunk-size';
    this.#left = 0;
    this.#sizeDigits = 0;
    this.#unreadBytes = 0;
  }

  #readSize(bytes: Buffer, start: number): number {
    let at = start;
    for (; at < bytes.length; at += 1) {
      const digit = hexValue(bytes[at] ?? 0);
      if (digit < 0) break;
      this.#left = this.#left * 16 + digit;
      this.#sizeDigits += 1;
    }
    if (this.#sizeDigits > sizeDigitsMax) fail('a chunk too long');
    if (at === bytes.length) return at;
    const code = bytes[at] ?? 0;
    if (this.#sizeDigits === 0) fail('a chunk without its size');
    if (code === carriageReturn) this.#state = 'chunk-line-end';
    else if (code === semicolon || code === 32 || code === 9) this.#state = 'chunk-extension';
    else fail('a chunk size that is none');
    return at + 1;
  }

  /** The states that read a byte at a time. */
  #readByte(code: number, at: number): number {
    if (this.#state === 'chunk-extension') {
      this.#countUnread(1);
      if (code === carriageReturn) this.#state = 'chunk-line-end';
      else if (code === lineFeed) fail('a chunk extension without its end');
    } else if (this.#state === 'chunk-line-end') {
      if (code !== lineFeed) fail('a chunk size without its end');
      this.#lineBytes = 0;
      this.#state = this.#left === 0 ? 'trailer' : 'chunk-data';
    } else {
      const isEnd = this.#state === 'chunk-end-feed';
      if (code !== (isEnd ? lineFeed : carriageReturn)) fail('a chunk without its end');
      if (isEnd) this.#beginChunk();
      else this.#state = 'chunk-end-feed';
    }
    return at + 1;
  }

  /** Up to an empty line. */
  #readTrailer(bytes: Buffer, start: number): number {
    let at = start;
    while (at < bytes.length) {
      const code = bytes[at] ?? 0;
      at += 1;
      this.#countUnread(1);
      if (code === lineFeed) {
        if (this.#lineBytes === 0) {
          this.#state = 'over';
          return at;
        }
        this.#lineBytes = 0;
      } else if (code !== carriageReturn) this.#lineBytes += 1;
    }
    return at;
  }

  #countUnread(bytes: number): void {
    this.#unreadBytes += bytes;
    if (this.#unreadBytes > unreadBytesMax) fail('too much beside the body');
  }
}

function fail(what: string): never {
  throw new Error(`the response has ${what}`);
}

function readHeaders(lines: readonly string[]): ResponseHeaders {
  const headers: ResponseHeaders = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (colon < 1 || !headerName.test(name)) fail('a header that is none');
    if (name === '__proto__') continue;
    const value = line.slice(colon + 1).trim();
    const known = headers[name];
    if (known === undefined) headers[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else headers[name] = [known, value];
  }
  return headers;
}

/** The members of a comma-separated header, in lower case. */
function tokensOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  const text = Array.isArray(value) ? value.join(',') : value;
  return text.split(',').map((token) => token.trim().toLowerCase());
}

/** `Keep-Alive: timeout=5, max=100`, in seconds. */
function idleMsOf(value: string | string[] | undefined): number | null {
  const seconds = /(?:^|[,\s])timeout=(\d{1,9})/i.exec(String(value ?? ''))?.[1];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}

/** Of a hexadecimal digit; -1: it is none. */
function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
