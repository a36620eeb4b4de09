// The response of one HTTP/1.1 exchange, from bytes that are cut anywhere (RFC 9112). It knows no
// socket. What was read is its own to change: the chunks of a read are moved together, so that the
// body is told once a read. A piece of it is a view: whoever keeps one copies it.
import {
  type Framing,
  fail,
  idleMsOf,
  lineEnd,
  type ResponseHeaders,
  readFraming,
  readHeaders,
  tokensOf,
} from './response-head.ts';

export interface ResponseSink {
  /**
   * The head of the response; heads with a status below 200 are passed over. Its headers are read
   * for who asks: of a good reply nobody does.
   */
  head(status: number, headers: () => ResponseHeaders): void;
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
/** Of a head are read at once: what comes with it is not read twice. */
const headSliceBytes = 2_048;
/** Extensions of a chunk, or trailers: nobody reads them. */
const unreadBytesMax = 16 * 1_024;
/** Sizes beyond it are nonsense, and would not be exact. */
const sizeDigitsMax = 12;
const carriageReturn = 13;
const lineFeed = 10;
const semicolon = 59;
const headEnd = '\r\n\r\n';
const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: |$)/;
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
  /** The body that was read and not told yet, in the bytes that are being read. */
  #bodyStart = 0;
  #bodyEnd = 0;

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
    try {
      while (at < bytes.length && this.#state !== 'over') at = this.#step(bytes, at);
    } finally {
      this.#tell(bytes);
    }
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
        this.#keep(bytes, at, bytes.length);
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
    const sliceEnd = Math.min(bytes.length, at + headSliceBytes);
    const head = this.#head + bytes.toString('latin1', at, sliceEnd);
    const end = head.indexOf(headEnd, Math.max(0, before - headEnd.length));
    if (end > headBytesMax || (end < 0 && head.length > headBytesMax)) fail('a head too long');
    if (end < 0) {
      this.#head = head;
      return sliceEnd;
    }
    this.#head = '';
    this.#takeHead(head, end);
    return at + end + headEnd.length - before;
  }

  #takeHead(head: string, end: number): void {
    const firstEnd = head.indexOf(lineEnd);
    const [, minor, code = ''] = statusLine.exec(head.slice(0, firstEnd)) ?? fail('no status line');
    const framing = readFraming(head, firstEnd + lineEnd.length, end);
    const status = Number(code);
    if (status === 101) fail('another protocol');
    if (status < 200) return;
    const options = tokensOf(framing.connection);
    this.#keepsOpen = minor === '1' ? !options.includes('close') : options.includes('keep-alive');
    this.#idleMs = idleMsOf(framing.keepAlive);
    this.#beginBody(status, framing);
    this.#sink.head(status, () => readHeaders(head.slice(0, end).split(lineEnd).slice(1)));
  }

  /** Which bytes are the body: RFC 9112, 6.3. */
  #beginBody(status: number, { length, coding }: Framing): void {
    if (status === 204 || status === 304) this.#state = 'over';
    else if (coding !== null) {
      const codings = tokensOf(coding);
      if (codings.length !== 1 || codings[0] !== 'chunked') fail('an unknown transfer coding');
      // Another length beside it is an attempt to smuggle: the connection is not used again.
      if (length !== null) this.#keepsOpen = false;
      this.#beginChunk();
    } else if (length !== null) {
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
    if (this.#left === 0) this.#state = next;
    this.#keep(bytes, at, end);
    return end;
  }

  /** Puts a piece of the body behind those that this read had before. */
  #keep(bytes: Buffer, start: number, end: number): void {
    if (this.#bodyEnd === 0) {
      this.#bodyStart = start;
      this.#bodyEnd = end;
      return;
    }
    bytes.copyWithin(this.#bodyEnd, start, end);
    this.#bodyEnd += end - start;
  }

  #tell(bytes: Buffer): void {
    const [start, end] = [this.#bodyStart, this.#bodyEnd];
    if (end === 0) return;
    this.#bodyEnd = 0;
    this.#sink.data(bytes.subarray(start, end));
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

/** Of a hexadecimal digit; -1: it is none. */
function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
