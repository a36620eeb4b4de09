// A client of the voice protocol over a real socket: keeps every event and all sound in order.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientOptions, WebSocket } from 'ws';

export type VoiceEvent = { type: string } & Record<string, unknown>;

/** What came, in order: events, and messages of sound as their length in bytes. */
export type Arrival = { atMs: number; event: VoiceEvent } | { atMs: number; bytes: number };

export interface ConnectOptions {
  /** Sent as X-API-Key. */
  apiKey?: string;
  query?: string;
  subprotocols?: string[];
  headers?: Record<string, string>;
  path?: string;
}

/** A refused handshake. */
export class Refused extends Error {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Record<string, unknown>;

  constructor(
    status: number,
    headers: Record<string, string | string[] | undefined>,
    body: Record<string, unknown>,
  ) {
    super(`the handshake was refused with ${status}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

const frameBytes = 1_024;
const rateHz = 16_000;
const waitMs = 30_000;

export class VoiceClient {
  readonly socket: WebSocket;
  readonly arrivals: Arrival[] = [];
  /** All sound, one buffer a message. */
  readonly sound: Buffer[] = [];
  closed: { code: number; reason: string } | null = null;
  #sentSamples = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer, isBinary) => {
      const atMs = performance.now();
      if (isBinary) {
        this.sound.push(data);
        this.arrivals.push({ atMs, bytes: data.length });
      } else this.arrivals.push({ atMs, event: JSON.parse(data.toString()) as VoiceEvent });
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    socket.on('error', () => {});
  }

  /** Opens a connection. Rejects with `Refused`. */
  static async connect(url: string, options: ConnectOptions = {}): Promise<VoiceClient> {
    const { apiKey, query, subprotocols = [], headers = {}, path = '/v1/voice/sessions' } = options;
    const address = `${url.replace(/^http/, 'ws')}${path}${query === undefined ? '' : `?${query}`}`;
    const given: ClientOptions = {
      headers: { ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }), ...headers },
      perMessageDeflate: false,
    };
    const socket = new WebSocket(address, subprotocols, given);
    const client = new VoiceClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
      socket.once('unexpected-response', (_request, response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => {
          const body = JSON.parse(text) as Record<string, unknown>;
          reject(new Refused(response.statusCode ?? 0, response.headers, body));
        });
      });
    });
    return client;
  }

  get events(): VoiceEvent[] {
    return this.arrivals.flatMap((arrival) => ('event' in arrival ? [arrival.event] : []));
  }

  get soundMs(): number {
    return this.sound.reduce((sum, { length }) => sum + length, 0) / 48;
  }

  ofType(type: string): VoiceEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  start(members: Record<string, unknown> = {}): void {
    this.send({ type: 'start', mode: 'full', voice_id: 'alloy', ...members });
  }

  /** Starts and waits for `session.ready`. */
  async ready(members: Record<string, unknown> = {}): Promise<VoiceEvent> {
    this.start(members);
    return await this.event('session.ready');
  }

  /** Waits for the `count`-th event of a type. */
  async event(type: string, count = 1, timeoutMs = waitMs): Promise<VoiceEvent> {
    await this.until(`${type} number ${count}`, () => this.ofType(type).length >= count, timeoutMs);
    const found = this.ofType(type)[count - 1];
    assert.ok(found !== undefined);
    return found;
  }

  async until(what: string, holds: () => boolean, timeoutMs = waitMs): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    const seen = () => JSON.stringify([this.events, this.closed]).slice(0, 3_000);
    while (!holds()) {
      assert.ok(this.closed === null, `closed before: ${what}\n${seen()}`);
      assert.ok(performance.now() < deadline, `not within ${timeoutMs} ms: ${what}\n${seen()}`);
      await sleep(3);
    }
  }

  async state(state: string, count = 1, timeoutMs = waitMs): Promise<void> {
    const reached = () => this.ofType('status').filter((event) => event.state === state).length;
    await this.until(`state ${state} number ${count}`, () => reached() >= count, timeoutMs);
  }

  /** Sends frames of a tone (0: silence), by default in real time. */
  async speak(pitchHz: number, durationMs: number, pace = 1): Promise<void> {
    const frames = Math.ceil(durationMs / 32);
    const begun = performance.now();
    for (let index = 0; index < frames && this.socket.readyState === WebSocket.OPEN; index += 1) {
      this.socket.send(this.frame(pitchHz));
      const aheadMs = ((index + 1) * 32) / pace - (performance.now() - begun);
      if (aheadMs > 1) await sleep(aheadMs);
    }
  }

  /** A turn of the user: a tone, then the silence that ends it. */
  async say(pitchHz: number, durationMs = 320): Promise<void> {
    await this.speak(pitchHz, durationMs);
    await this.speak(0, 700);
  }

  frame(pitchHz: number): Buffer {
    const frame = Buffer.alloc(frameBytes);
    for (let index = 0; index < frameBytes / 2; index += 1) {
      const phase = (2 * Math.PI * pitchHz * (this.#sentSamples + index)) / rateHz;
      frame.writeInt16LE(Math.round(12_000 * Math.sin(phase)), index * 2);
    }
    this.#sentSamples += frameBytes / 2;
    return frame;
  }

  async close(timeoutMs = waitMs): Promise<{ code: number; reason: string }> {
    if (this.closed !== null) return this.closed;
    const signal = AbortSignal.timeout(timeoutMs);
    await once(this.socket, 'close', { signal });
    assert.ok(this.closed !== null);
    return this.closed;
  }
}
