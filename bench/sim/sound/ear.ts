// Turn detection as decisions.md wants it: 200 ms of tone are a user's turn, which ends after a
// silence. Time is audio time: what arrives faster than real time is heard faster.
import { type BlockListener, blockMs, PitchMeter } from './pitch.ts';

/** One block less than 200 ms: a tone rarely begins on the edge of one. */
const turnBlocks = 200 / blockMs - 1;
/** Shorter quiet belongs to the tone. */
const quietBlocksMax = 40 / blockMs;

/** Times in milliseconds of audio since the first sample. */
export interface EarListener {
  speechStarted(onsetMs: number): void;
  /** `endMs` includes the silence. */
  speechStopped(endMs: number, pitchHz: number): void;
}

export class Ear implements BlockListener {
  readonly #meter: PitchMeter;
  readonly #rateHz: number;
  readonly #listener: EarListener;
  /** Null: nobody asked for turns; only the pitch is measured. */
  silenceMs: number | null;
  #speaking = false;
  #loudBlocks = 0;
  #quietBlocks = 0;

  constructor(rateHz: number, silenceMs: number | null, listener: EarListener) {
    this.#meter = new PitchMeter(rateHz, this);
    this.#rateHz = rateHz;
    this.silenceMs = silenceMs;
    this.#listener = listener;
  }

  get speaking(): boolean {
    return this.#speaking;
  }

  get heardMs(): number {
    return (this.#meter.heard * 1000) / this.#rateHz;
  }

  hear(samples: Int16Array): void {
    this.#meter.hear(samples);
  }

  /** Ends a turn here, whatever was said last; the pitch since the last turn, in whole Hertz. */
  flush(): number {
    const pitchHz = Math.round(this.#meter.pitchHz);
    this.#speaking = false;
    this.#loudBlocks = 0;
    this.#quietBlocks = 0;
    this.#meter.forget();
    return pitchHz;
  }

  block(loud: boolean, endSample: number): void {
    if (loud) {
      this.#quietBlocks = 0;
      this.#loudBlocks += 1;
      if (this.#speaking || this.silenceMs === null || this.#loudBlocks < turnBlocks) return;
      this.#speaking = true;
      const toneMs = this.#loudBlocks * blockMs;
      this.#listener.speechStarted(Math.max(0, this.#ms(endSample) - toneMs));
      return;
    }
    this.#quietBlocks += 1;
    if (this.#speaking) {
      if (this.silenceMs !== null && this.#quietBlocks * blockMs < this.silenceMs) return;
      this.#listener.speechStopped(this.#ms(endSample), this.flush());
    } else if (this.#loudBlocks > 0 && this.#quietBlocks > quietBlocksMax) {
      this.#loudBlocks = 0;
      // Without turns the pitch is of everything since the last flush.
      if (this.silenceMs !== null) this.#meter.forget();
    }
  }

  #ms(sample: number): number {
    return Math.round((sample * 1000) / this.#rateHz);
  }
}
