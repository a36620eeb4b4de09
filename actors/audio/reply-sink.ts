// What stands between the actor of a speech or transcription and the reply of its client. It says
// how the reply begins, then passes the audio on as it comes.
import type { ByteStream } from '../../runtime/http/route.ts';
import type { PlainProblem } from '../../runtime/problem.ts';

export type AudioOpening =
  | { kind: 'audio' }
  | { kind: 'transcript'; text: string; seconds: number }
  | { kind: 'failed'; problem: PlainProblem }
  /** Another request has the idempotency key. */
  | { kind: 'duplicate' };

/** What the actor hears of its client. */
export interface SinkListener {
  gone(): void;
  drained(): void;
}

export class AudioReplySink {
  /** Resolves when the reply can begin. */
  readonly opening: Promise<AudioOpening>;
  readonly #open: (opening: AudioOpening) => void;
  readonly #aheadBytesMax: number;
  #listener: SinkListener | null = null;
  #stream: ByteStream | null = null;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #end: 'ended' | 'failed' | null = null;
  #isGone = false;

  constructor(aheadBytesMax: number) {
    let open: (opening: AudioOpening) => void = () => undefined;
    this.opening = new Promise((resolve) => {
      open = resolve;
    });
    this.#open = open;
    this.#aheadBytesMax = aheadBytesMax;
  }

  listen(listener: SinkListener): void {
    this.#listener = listener;
    if (this.#isGone) listener.gone();
  }

  open(opening: AudioOpening): void {
    this.#open(opening);
  }

  /** False: wait until the listener hears `drained`. */
  write(bytes: Uint8Array): boolean {
    if (this.#isGone) return true;
    if (this.#stream !== null) return this.#stream.write(bytes);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    return this.#waitingBytes < this.#aheadBytesMax;
  }

  /** All audio is there and paid for. */
  end(): void {
    this.#end ??= 'ended';
    this.#stream?.end();
  }

  /** There will be no more: the client must not take what it has for the whole. */
  fail(): void {
    this.#end ??= 'failed';
    this.#stream?.fail();
  }

  /** The reply's headers leave now. */
  connect(stream: ByteStream): void {
    this.#stream = stream;
    stream.onDrain(() => this.#listener?.drained());
    stream.onClose((reason) => {
      if (reason !== 'ended') this.clientGone();
    });
    for (const bytes of this.#waiting) stream.write(bytes);
    this.#waiting = [];
    if (this.#end === 'ended') stream.end();
    else if (this.#end === 'failed') stream.fail();
  }

  clientGone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#waiting = [];
    this.#listener?.gone();
  }
}
