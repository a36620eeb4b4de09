// Samples on their way to the loudspeaker: they wait until there are enough of them to survive a
// late packet, and fade out instead of breaking off. Pure: no clock but the samples played.

/** A click is a step: 3 ms at 24 kHz make it a slope. */
const FADE_SAMPLES = 72;
const UNDERRUNS_RAISE = 1.5;

export interface JitterBufferOptions {
  rateHz: number;
  /** What waits before playback begins. */
  targetMs: number;
  /** The target grows up to this when the network is worse than it. */
  targetMsMax: number;
  /** More than this is dropped, oldest first. */
  capacityMs: number;
}

export class JitterBuffer {
  /** How often playback ran dry within an answer. */
  underruns = 0;
  isPlaying = false;
  targetMs: number;
  readonly #options: JitterBufferOptions;
  #chunks: Float32Array[] = [];
  /** Of the first chunk, what is played already. */
  #played = 0;
  #samples = 0;
  #waitedSamples = 0;
  #drySamples = Number.POSITIVE_INFINITY;
  #last = 0;
  #fade = 0;

  constructor(options: JitterBufferOptions) {
    this.#options = options;
    this.targetMs = options.targetMs;
  }

  get bufferedMs(): number {
    return (this.#samples * 1000) / this.#options.rateHz;
  }

  push(samples: Float32Array): void {
    const { rateHz, capacityMs, targetMsMax } = this.#options;
    // Dry for less than half a second: the answer went on, and came too late.
    if (!this.isPlaying && this.#samples === 0 && this.#drySamples < rateHz / 2) {
      this.underruns += 1;
      this.targetMs = Math.min(targetMsMax, this.targetMs * UNDERRUNS_RAISE);
    }
    this.#chunks.push(samples);
    this.#samples += samples.length;
    while (this.bufferedMs > capacityMs && this.#chunks.length > 1) this.#dropFirst();
  }

  /** Forgets everything; what is heard fades within 3 ms. */
  clear(): void {
    this.#chunks = [];
    this.#played = 0;
    this.#samples = 0;
    this.#stop(Number.POSITIVE_INFINITY);
  }

  /** Fills `output` with the next samples, silence where there are none. */
  pull(output: Float32Array): void {
    const { rateHz } = this.#options;
    if (!this.isPlaying && this.#samples > 0) {
      this.#waitedSamples += output.length;
      const waitedMs = (this.#waitedSamples * 1000) / rateHz;
      // Waiting ends by itself: the end of an answer may be shorter than the target.
      this.isPlaying = this.bufferedMs >= this.targetMs || waitedMs >= this.targetMs;
    }
    let at = this.isPlaying ? this.#take(output) : 0;
    if (this.isPlaying && at < output.length) this.#stop(0);
    if (!this.isPlaying) this.#drySamples += output.length - at;
    for (; at < output.length; at++) {
      output[at] = this.#fade > 0 ? (this.#last * --this.#fade) / FADE_SAMPLES : 0;
    }
  }

  #take(output: Float32Array): number {
    let at = 0;
    while (at < output.length) {
      const first = this.#chunks[0];
      if (first === undefined) break;
      const count = Math.min(output.length - at, first.length - this.#played);
      output.set(first.subarray(this.#played, this.#played + count), at);
      at += count;
      this.#played += count;
      this.#samples -= count;
      if (this.#played === first.length) this.#dropFirst();
    }
    if (at > 0) this.#last = output[at - 1] ?? 0;
    return at;
  }

  #dropFirst(): void {
    const first = this.#chunks.shift();
    this.#samples -= (first?.length ?? 0) - this.#played;
    this.#played = 0;
  }

  #stop(drySamples: number): void {
    if (this.isPlaying) this.#fade = FADE_SAMPLES;
    this.isPlaying = false;
    this.#waitedSamples = 0;
    this.#drySamples = drySamples;
  }
}
