// Reads HTTP/1.1 responses off a socket without copying: status, framing, and a count of SSE events
// (blank lines). It trusts the server it measures, and is cheap so that it never is the bottleneck.

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const HEAD_CHARS_MAX = 32_768;

type State = 'head' | 'length' | 'close' | 'size' | 'chunk' | 'chunk-end' | 'trailer' | 'done';

export class ResponseReader {
  status = 0;
  /** Complete SSE events so far: a data line, then a blank line. Comments count nothing. */
  events = 0;
  bodyBytes = 0;
  /** The first bytes of the body, kept for error messages. */
  bodyStart = '';
  state: State = 'head';
  keepAlive = true;
  #head = '';
  #left = 0;
  #lineLength = 0;

  /** Makes ready for the next response on the connection. */
  reset(): void {
    this.status = 0;
    this.events = 0;
    this.bodyBytes = 0;
    this.bodyStart = '';
    this.state = 'head';
    this.#head = '';
    this.#left = 0;
    this.#lineLength = 0;
  }

  /** Takes `length` bytes. True when the response is complete. */
  push(bytes: Uint8Array, length: number): boolean {
    let at = 0;
    while (at < length && this.state !== 'done') {
      switch (this.state) {
        case 'head':
          at = this.#pushHead(bytes, at, length);
          break;
        case 'length':
        case 'chunk':
          at = this.#pushBody(bytes, at, length);
          break;
        case 'close':
          this.#count(bytes, at, length);
          at = length;
          break;
        case 'size':
          at = this.#pushSize(bytes, at, length);
          break;
        case 'chunk-end':
        case 'trailer':
          at = this.#pushLineEnd(bytes, at);
          break;
      }
    }
    return this.state === 'done';
  }

  #pushHead(bytes: Uint8Array, from: number, to: number): number {
    const before = this.#head.length;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
    this.#head += text;
    const end = this.#head.indexOf('\r\n\r\n');
    if (end === -1) {
      if (this.#head.length > HEAD_CHARS_MAX) throw new Error('response head over 32 KiB');
      return to;
    }
    this.#startBody(this.#head.slice(0, end));
    return from + (end + 4 - before);
  }

  #startBody(head: string): void {
    this.status = Number(head.slice(9, 12));
    this.keepAlive = !/\r\nconnection: *close/i.test(head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    if (/\r\ntransfer-encoding: *chunked/i.test(head)) this.state = 'size';
    else if (length !== null) {
      this.#left = Number(length[1]);
      this.state = this.#left === 0 ? 'done' : 'length';
    } else {
      this.keepAlive = false;
      this.state = 'close';
    }
  }

  #pushBody(bytes: Uint8Array, from: number, to: number): number {
    const end = Math.min(to, from + this.#left);
    this.#left -= end - from;
    this.#count(bytes, from, end);
    if (this.#left === 0) this.state = this.state === 'length' ? 'done' : 'chunk-end';
    return end;
  }

  #pushSize(bytes: Uint8Array, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === NEWLINE) {
        this.state = this.#left === 0 ? 'trailer' : 'chunk';
        this.#lineLengthOfTrailer = 0;
        return at + 1;
      }
      if (byte !== CARRIAGE_RETURN) this.#left = this.#left * 16 + hexDigit(byte);
    }
    return to;
  }

  #lineLengthOfTrailer = 0;

  #pushLineEnd(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] ?? 0;
    if (byte === NEWLINE) {
      if (this.state === 'chunk-end') this.state = 'size';
      else if (this.#lineLengthOfTrailer === 0) this.state = 'done';
      this.#lineLengthOfTrailer = 0;
    } else if (byte !== CARRIAGE_RETURN) this.#lineLengthOfTrailer++;
    return at + 1;
  }

  #count(bytes: Uint8Array, from: number, to: number): void {
    if (this.bodyBytes === 0 || (this.status !== 200 && this.bodyBytes < 512)) {
      const start = Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(512, to - from));
      this.bodyStart += start.toString('latin1');
    }
    this.bodyBytes += to - from;
    let lineLength = this.#lineLength;
    for (let at = from; at < to; at++) {
      if (bytes[at] !== NEWLINE) lineLength++;
      else {
        if (lineLength === 0) this.events++;
        lineLength = 0;
      }
    }
    this.#lineLength = lineLength;
  }
}

function hexDigit(byte: number): number {
  const letter = byte | 0x20;
  if (byte >= 48 && byte <= 57) return byte - 48;
  if (letter >= 97 && letter <= 102) return letter - 87;
  throw new Error(`not a chunk size: byte ${byte}`);
}
