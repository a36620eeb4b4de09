// One voice session of the generator on a bare socket. All sessions read into the same buffer: node
// hands its bytes over before the next read.
import { connect, type Socket } from 'node:net';
import type { Abuse, VoiceTarget } from './voice-job.ts';
import { DriftMeter, type VoiceRecord } from './voice-record.ts';
import {
  clockMs,
  findStamp,
  inputPattern,
  OUTPUT_BYTES_MS,
  orderText,
  readStamp,
  type SessionOrder,
} from './voice-wire.ts';
import { BINARY, clientFrame, ServerReader, TEXT, textFrame, upgradeRequest } from './websocket.ts';

const sharedBuffer = Buffer.allocUnsafe(65_536);
const pattern = inputPattern().map((frame) => clientFrame(BINARY, frame));
const bargeFrame = textFrame({ type: 'barge_in' });
const endFrame = textFrame({ type: 'end' });
const garbage = [
  clientFrame(TEXT, Buffer.from('{"type":"start","mode":')),
  clientFrame(TEXT, Buffer.from(JSON.stringify({ type: 'nonsense', depth: [[[[]]]] }))),
  clientFrame(BINARY, Buffer.alloc(1_023, 0x5a)),
];
const FLOOD_FACTOR = 10;

export interface SessionOptions {
  target: VoiceTarget;
  order: SessionOrder;
  abuse: Abuse | null;
  /** Replaced whole when a measurement begins, so it is asked for. */
  record: () => VoiceRecord;
  ready: (startMs: number) => void;
  /** Once, also when it was never ready; the reason is empty after `end`. */
  ended: (reason: string) => void;
}

export class VoiceClient {
  readonly number: number;
  /** When the first frames of the pattern were sent. */
  onsets: number[] = [];
  isReady = false;
  readonly #options: SessionOptions;
  readonly #socket: Socket;
  readonly #drift = new DriftMeter();
  readonly #deltaBytes: number;
  #place = 0;
  #isEnding = false;
  #isOver = false;
  #upgradedMs = 0;
  #bargedMs = 0;
  /** Bytes of output until the next stamp; null: it has to be looked for. */
  #toStamp: number | null = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.number = options.order.session;
    this.#place = this.number;
    this.#deltaBytes = options.order.deltaMs * OUTPUT_BYTES_MS;
    const { target } = options;
    const reader = new ServerReader({
      opened: () => this.#opened(),
      message: (opcode, payload) => this.#message(opcode, payload),
      ping: (pong) => this.#socket.write(pong),
      closed: (code, reason) => this.#over(`closed with ${code} ${reason}`.trim()),
      refused: (status, body) => this.#over(`refused with ${status}: ${body.slice(0, 300)}`),
    });
    const onread = {
      buffer: sharedBuffer,
      callback: (length: number, buffer: Uint8Array) => {
        reader.push(Buffer.from(buffer.buffer, buffer.byteOffset, length));
        return true;
      },
    };
    this.#socket = connect({ host: target.host, port: target.port, noDelay: true, onread });
    this.#socket.once('connect', () => {
      this.#upgradedMs = clockMs();
      this.#socket.write(upgradeRequest(target));
    });
    this.#socket.once('error', (error) => this.#over(error.message));
    this.#socket.once('close', () => this.#over('lost'));
  }

  /** The next frame of the pattern; every session is at another place of it. */
  sendFrame(): void {
    if (!this.isReady || this.#isOver) return;
    const { abuse } = this.#options;
    const place = this.#place % pattern.length;
    const frame = pattern[place];
    if (frame === undefined) return;
    if (abuse === 'garbage') {
      this.#socket.write(garbage[this.#place++ % garbage.length] ?? frame);
      return;
    }
    // Who abuses is no neighbour: its own latency is not asked for.
    if (place === 0 && abuse === null) this.onsets.push(clockMs());
    const times = abuse === 'flood' ? FLOOD_FACTOR : 1;
    for (let sent = 0; sent < times; sent++) this.#socket.write(frame);
    this.#place += 1;
    this.#options.record().framesSent += 1;
  }

  bargeIn(): void {
    if (!this.isReady || this.#isOver || this.#bargedMs !== 0) return;
    this.#bargedMs = clockMs();
    this.#socket.write(bargeFrame);
  }

  /** Ends the session the polite way where its wire has one. */
  end(): void {
    if (this.#isOver || this.#isEnding) return;
    this.#isEnding = true;
    if (this.#options.target.wire.kind === 'svc' && this.isReady) {
      this.#socket.resume();
      this.#socket.write(endFrame);
    } else this.#socket.destroy();
  }

  destroy(): void {
    this.#isEnding = true;
    this.#socket.destroy();
  }

  #opened(): void {
    const { target, order } = this.#options;
    if (target.wire.kind === 'raw') {
      this.#becomeReady();
      return;
    }
    const start = {
      type: 'start',
      mode: 'full',
      voice_id: target.wire.voiceId,
      context: [{ role: 'user', content: orderText(order) }],
    };
    this.#socket.write(textFrame(start));
  }

  #becomeReady(): void {
    this.isReady = true;
    if (this.#options.abuse === 'deaf') this.#socket.pause();
    this.#options.ready(clockMs() - this.#upgradedMs);
  }

  #message(opcode: number, payload: Buffer): void {
    if (opcode === BINARY) {
      this.#audio(payload);
      return;
    }
    // Only few kinds matter here, and transcripts come often: the start of the text tells.
    const start = payload.toString('latin1', 0, 40);
    if (start.includes('playback.clear')) {
      this.#toStamp = null;
      if (this.#bargedMs !== 0) this.#options.record().bargeMs.push(clockMs() - this.#bargedMs);
      this.#bargedMs = 0;
    } else if (start.includes('session.ready')) this.#becomeReady();
    else if (start.includes('session.ended') && !this.#isEnding) {
      this.#over(payload.toString('utf8').slice(0, 300));
    } else if (start.includes('"error"') && this.#options.abuse === null) {
      this.#options.record().failure ||= payload.toString('utf8').slice(0, 300);
    }
  }

  #audio(payload: Buffer): void {
    const record = this.#options.record();
    record.outputMessages += 1;
    record.outputBytes += payload.length;
    if (this.#options.abuse !== null) return;
    const now = clockMs();
    const drift = this.#drift.take(now, payload.length);
    if (drift !== null) record.driftMs.push(drift);
    let at = this.#toStamp ?? findStamp(payload, 0);
    if (at === -1) return;
    for (; at < payload.length; at += this.#deltaBytes) {
      const sentMs = readStamp(payload, at);
      if (!Number.isNaN(sentMs)) record.downMs.push(now - sentMs);
      // Cut by a message's end it cannot be read, and is where it should be; else it is lost.
      else if (at + 12 <= payload.length) {
        this.#toStamp = null;
        return;
      }
    }
    this.#toStamp = at - payload.length;
  }

  #over(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.destroy();
    this.#options.ended(this.#isEnding ? '' : reason);
  }
}
