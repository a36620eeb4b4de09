// A WebSocket of `ws` over a connection whose reads share one buffer of the thread: messages that
// came whole are told out of it, and frames of sound are one write each (what that saves stands in
// README.md).
import { strict as assert } from 'node:assert';
import type { ClientRequest, ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import { type ClientOptions, type RawData, WebSocket } from 'ws';
import { dial } from './dial.ts';
import { FrameBoundary, wholeMessage } from './frame-boundary.ts';

const slabBytes = 64 * 1024;
/** The first byte of a final frame with text, and a key that masks nothing (RFC 6455, 5.2). */
const finalText = '\x81';
const keyOfZeros = '\0\0\0\0';

let slab = Buffer.alloc(0);
let filled = 0;

/** A copy: `ws` keeps what is no whole message yet. No byte of a slab is written twice. */
function keep(bytes: Buffer): Buffer {
  if (filled + bytes.length > slab.length) {
    slab = Buffer.allocUnsafeSlow(slabBytes);
    filled = 0;
  }
  const start = filled;
  filled += bytes.copy(slab, start);
  return slab.subarray(start, filled);
}

export interface LiveSocketOptions extends ClientOptions {
  /** Of one message. */
  maxPayload: number;
}

export interface LiveSocket {
  readonly socket: WebSocket;
  /** Sends a text of ASCII alone as one message. Only while the socket is open. */
  sendAscii(text: string): void;
}

/**
 * Connects at once; throws where the URL or a header is none. `read` is given each message, which
 * is good until it returns: all but `message` are events of `socket`.
 */
export function openLiveSocket(
  url: string,
  options: LiveSocketOptions,
  read: (message: Buffer) => void,
): LiveSocket {
  const isUnread = isUnreadOnTheWay(url);
  const isOpen = () => socket.readyState === WebSocket.OPEN;
  const incoming = new Incoming(options.maxPayload, isOpen, read);
  let connection: Socket | null = null;
  const createConnection = (asked: ClientRequestArgs): Socket => {
    connection = connect(asked, url.startsWith('wss:'), incoming);
    return connection;
  };
  const socket: WebSocket = new WebSocket(url, {
    ...options,
    createConnection,
    finishRequest: (request) => incoming.begin(request),
    ...(isUnread ? { generateMask: (mask: Buffer) => void mask.fill(0) } : {}),
  });
  socket.on('message', (data) => read(bytesOf(data)));
  const sendAscii = (text: string): void => {
    // Below `ws`, between two messages of its own: it writes each at once while none is compressed.
    if (isUnread && connection !== null) connection.write(unmaskedFrame(text), 'latin1');
    else socket.send(text);
  };
  return { socket, sendAscii };
}

/** What comes over a connection: whole messages past `ws`, everything else to it. */
class Incoming {
  readonly #messageBytesMax: number;
  readonly #isOpen: () => boolean;
  readonly #read: (message: Buffer) => void;
  /** Null: the connection does not speak WebSocket yet. */
  #border: FrameBoundary | null = null;

  constructor(messageBytesMax: number, isOpen: () => boolean, read: (message: Buffer) => void) {
    this.#messageBytesMax = messageBytesMax;
    this.#isOpen = isOpen;
    this.#read = read;
  }

  /** Sends the request. Where the answer ends the frames begin, perhaps in the same bytes. */
  begin(request: ClientRequest): void {
    request.once('upgrade', (_response, _connection, head: Buffer) => {
      this.#border = new FrameBoundary();
      this.#border.pass(head);
    });
    request.end();
  }

  /** The bytes are lent for this call. */
  take(bytes: Buffer, connection: Socket): void {
    const border = this.#border;
    let rest = bytes;
    // Not open: `ws` has seen the end, or what is against the protocol. Nothing follows that.
    while (border?.isReached && rest.length > 0 && this.#isOpen()) {
      const whole = wholeMessage(rest);
      if (whole === null || whole.message.length > this.#messageBytesMax) break;
      rest = rest.subarray(whole.frameBytes);
      this.#read(whole.message);
    }
    if (rest.length === 0) return;
    border?.pass(rest);
    connection.emit('data', keep(rest));
  }
}

/**
 * Masks keep what a client sends from being taken for something else by whoever reads cleartext on
 * the way (RFC 6455, section 10.3). Inside TLS and on this machine nobody does: a key of zeros
 * masks as nothing, which saves 4 of the 14 us that a frame takes to send.
 */
function isUnreadOnTheWay(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'wss:' || /^(127\.|\[::1\]|localhost$)/.test(hostname);
}

function connect({ host, port }: ClientRequestArgs, isSecure: boolean, incoming: Incoming): Socket {
  const address = { host: host ?? '', port: Number(port), isSecure };
  const socket = dial(address, (bytes) => incoming.take(bytes, socket));
  return socket;
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

/** Of characters that are bytes. A client's frame must have a key, also one that masks nothing. */
function unmaskedFrame(text: string): string {
  const { length } = text;
  if (length < 126) return `${finalText}${String.fromCharCode(0x80 | length)}${keyOfZeros}${text}`;
  assert(length < 0x1_0000, 'a frame of sound is short');
  const lengthBytes = String.fromCharCode(length >> 8, length & 0xff);
  return `${finalText}\xfe${lengthBytes}${keyOfZeros}${text}`;
}
