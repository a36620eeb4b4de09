// The client's half of RFC 6455, as little of it as a load generator needs: whole messages, no
// extensions. Frames are masked with the key zero, which the RFC allows and which costs nothing.

export const TEXT = 1;
export const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** Any key will do for a client that does not fear caches between; its accept value is fixed. */
const KEY = 'dG9sbGdhdGUtdm9pY2UhIQ==';
const HEAD_BYTES_MAX = 16_384;

/** The bytes of an upgrade request (RFC 6455, 4.1). */
export function upgradeRequest(target: {
  host: string;
  port: number;
  path: string;
  headers: Record<string, string>;
}): Buffer {
  const headers = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `GET ${target.path} HTTP/1.1\r\nhost: ${target.host}:${target.port}\r\nupgrade: websocket\r\n` +
      `connection: Upgrade\r\nsec-websocket-key: ${KEY}\r\nsec-websocket-version: 13\r\n` +
      `${headers.join('')}\r\n`,
  );
}

/** One masked frame that is a whole message (RFC 6455, 5.2); payloads below 64 KiB. */
export function clientFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  if (length > 0xffff) throw new Error(`a frame of ${length} bytes is not written here`);
  const head = length < 126 ? [length | 0x80] : [126 | 0x80, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...head, 0, 0, 0, 0]), payload]);
}

export function textFrame(message: object): Buffer {
  return clientFrame(TEXT, Buffer.from(JSON.stringify(message)));
}

export interface MessageListener {
  /** The server took the upgrade. */
  opened(): void;
  /** Lives only until this call returns. */
  message(opcode: number, payload: Buffer): void;
  ping(pong: Buffer): void;
  /** Code 1005 stands for a close frame without a code. */
  closed(code: number, reason: string): void;
  /** Not upgraded: the status, or 0 for what is no HTTP answer. */
  refused(status: number, body: string): void;
}

/** Reads what a server sends, however TCP cuts it. */
export class ServerReader {
  readonly #listener: MessageListener;
  #isOpen = false;
  #rest: Buffer | null = null;

  constructor(listener: MessageListener) {
    this.#listener = listener;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk]);
    const from = this.#isOpen ? this.#frames(bytes, 0) : this.#head(bytes);
    // A copy: the caller reads the next chunk into the same memory.
    this.#rest = from === bytes.length ? null : Buffer.from(bytes.subarray(from));
  }

  #head(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n');
    if (end === -1) {
      if (bytes.length > HEAD_BYTES_MAX) this.#listener.refused(0, 'the head does not end');
      return 0;
    }
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1', 0, 16))?.[1] ?? 0);
    if (status !== 101) {
      this.#listener.refused(status, bytes.toString('utf8', end + 4));
      return bytes.length;
    }
    this.#isOpen = true;
    this.#listener.opened();
    return this.#frames(bytes, end + 4);
  }

  #frames(bytes: Buffer, start: number): number {
    for (let at = start; ; ) {
      const short = (bytes[at + 1] ?? 0) & 0x7f;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (at + head > bytes.length) return at;
      const length =
        head === 2 ? short : head === 4 ? bytes.readUInt16BE(at + 2) : bytes.readUInt32BE(at + 6);
      const end = at + head + length;
      if (end > bytes.length) return at;
      this.#frame(bytes[at] ?? 0, bytes.subarray(at + head, end));
      at = end;
    }
  }

  #frame(first: number, payload: Buffer): void {
    const opcode = first & 0x0f;
    if (opcode === PING) this.#listener.ping(clientFrame(PONG, payload));
    else if (opcode === CLOSE) {
      const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
      this.#listener.closed(code, payload.toString('utf8', 2));
    } else if (opcode === TEXT || opcode === BINARY) {
      if ((first & 0x80) === 0) throw new Error('a message in fragments is not read here');
      this.#listener.message(opcode, payload);
    }
  }
}
