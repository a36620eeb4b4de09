// A client and an upstream of a voice session that are records of what they were told, so that
// every order can be seen and made.
import type { VoiceSession } from '../../../actors/voice/state.ts';
import type {
  LiveCall,
  LiveEvent,
  LivePosition,
  LiveSetup,
} from '../../../media/providers/live/contract.ts';
import type { ClientSocket, SocketHandlers } from '../../../runtime/http/route.ts';

export type Told = Record<string, unknown> & { type: string };

/** One connection: what the client was told, and its side of the socket. */
export class FakeClient implements ClientSocket {
  readonly told: (Told | { type: 'sound'; bytes: number })[] = [];
  readonly id: string;
  readonly handlers: SocketHandlers;
  readonly session: VoiceSession;
  ended: { code: number; reason: string } | null = null;
  bufferedBytes = 0;
  isOpen = true;
  call: FakeCall | null = null;

  constructor(id: string, handlers: SocketHandlers, session: VoiceSession) {
    this.id = id;
    this.handlers = handlers;
    this.session = session;
  }

  text(message: string): boolean {
    if (this.isOpen) this.told.push(JSON.parse(message) as Told);
    return this.isOpen;
  }

  binary(bytes: Uint8Array): boolean {
    if (this.isOpen) this.told.push({ type: 'sound', bytes: bytes.length });
    return this.isOpen;
  }

  together(send: () => void): void {
    send();
  }

  end(code: number, reason: string): void {
    this.ended ??= { code, reason };
    this.isOpen = false;
  }

  send(message: unknown): void {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    const bytes = new TextEncoder().encode(text);
    this.handlers.message(bytes.buffer as ArrayBuffer, false);
  }

  start(members: Record<string, unknown> = {}): void {
    this.send({ type: 'start', mode: 'full', voice_id: 'alto', ...members });
  }

  frame(bytes = 1_024, sample = 0): void {
    const samples = new Int16Array(Math.ceil(bytes / 2)).fill(sample);
    this.handlers.message(samples.buffer.slice(0, bytes) as ArrayBuffer, true);
  }

  leave(): void {
    this.isOpen = false;
    this.handlers.closed();
  }

  types(): string[] {
    return this.told.map((event) => {
      if (event.type === 'status' && 'state' in event) return String(event.state);
      return event.type === 'error' && 'code' in event ? `error ${String(event.code)}` : event.type;
    });
  }

  of(type: string): Told[] {
    return this.told.filter((event): event is Told => event.type === type);
  }

  /** Everything from now on is looked at alone. */
  forget(): void {
    this.told.length = 0;
  }
}

function positionText({ itemId, heardMs, unsentItems = [] }: LivePosition): string {
  return [itemId, heardMs, ...unsentItems.map((id) => `unsent ${id}`)].join(' ');
}

/** One upstream session: what it was told, and what it says. */
export class FakeCall implements LiveCall {
  readonly told: string[] = [];
  readonly routeId: string;
  readonly setup: LiveSetup;
  readonly #report: (events: readonly LiveEvent[]) => void;
  frames = 0;
  /** Bytes of each message of sound. */
  readonly messages: number[] = [];
  droppedFrames = 0;
  closedMs: number | null = null;
  /** Ends by itself when it is closed; else the test does it. */
  endsAtOnce = true;
  results: { callId: string; output: Record<string, unknown> }[] = [];

  constructor(routeId: string, setup: LiveSetup, report: (events: readonly LiveEvent[]) => void) {
    this.routeId = routeId;
    this.setup = setup;
    this.#report = report;
  }

  says(...events: LiveEvent[]): void {
    this.#report(events);
  }

  audio(pcm: Uint8Array): boolean {
    this.messages.push(pcm.byteLength);
    this.frames += Math.ceil(pcm.byteLength / 1_024);
    return true;
  }

  bargeIn(heard: LivePosition | null): void {
    this.told.push(`bargeIn ${heard === null ? 'null' : positionText(heard)}`);
  }

  truncate(heard: LivePosition): void {
    this.told.push(`truncate ${positionText(heard)}`);
  }

  toolResult(callId: string, name: string, outputJson: string): void {
    this.told.push(`result ${callId} ${name}`);
    this.results.push({ callId, output: JSON.parse(outputJson) as Record<string, unknown> });
  }

  pause(): void {
    this.told.push('pause');
  }

  resume(): void {
    this.told.push('resume');
  }

  close(lingerMs: number): void {
    if (this.closedMs !== null) return;
    this.closedMs = lingerMs;
    this.told.push(`close ${lingerMs}`);
    if (this.endsAtOnce) queueMicrotask(() => this.says({ type: 'ended' }));
  }
}

/** An upstream's usage in tokens of speech. */
export function report(speechIn: number, speechOut: number): LiveEvent {
  const text = { inputTextTokens: 0, outputTextTokens: 0 };
  const usage = { inputSpeechTokens: speechIn, outputSpeechTokens: speechOut, ...text };
  return { type: 'usage', usage };
}

/** So many milliseconds of an answer's sound. */
export const sound = (itemId: string, ms: number): LiveEvent => ({
  type: 'audio',
  itemId,
  pcm: new Uint8Array(ms * 48),
});

/** A search that finds nothing, and ends when it is given up. */
export function untilAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(null));
  });
}
