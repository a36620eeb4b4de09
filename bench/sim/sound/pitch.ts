// Finds loud stretches of 4 ms and the pitch in them, sample by sample with nothing kept but sums:
// rising zero crossings, interpolated, armed by a hysteresis that noise does not pass.

export const blockMs = 4;

const loudMean = 400;
const armLevel = 200;
/** Slower than 40 Hz is a gap, not a period. */
const periodSecondsMax = 1 / 40;
const edgePeriods = 2;
/** So few may be the ringing of a tone's beginning. */
const fewPeriods = 8;

export interface BlockListener {
  /** Once for every 4 ms of audio; `endSample` counts from the first sample that was heard. */
  block(loud: boolean, endSample: number): void;
}

export class PitchMeter {
  readonly #listener: BlockListener;
  readonly #blockSamples: number;
  readonly #periodMax: number;
  readonly #rateHz: number;
  #heard = 0;
  #inBlock = 0;
  #sum = 0;
  #previous = 0;
  #armed = false;
  #candidate = 0;
  #lastCrossing = Number.NEGATIVE_INFINITY;
  #periods = 0;
  #periodSum = 0;
  /** Where the first and the last inner period ended: those at the edges are bent by filters. */
  #innerFrom = 0;
  readonly #latest = [0, 0, 0];

  constructor(rateHz: number, listener: BlockListener) {
    this.#listener = listener;
    this.#rateHz = rateHz;
    this.#blockSamples = Math.round((rateHz * blockMs) / 1000);
    this.#periodMax = rateHz * periodSecondsMax;
  }

  /** Samples since the first one. */
  get heard(): number {
    return this.#heard;
  }

  /** Mean pitch since the last `forget`, in Hertz; 0 when nothing swung. */
  get pitchHz(): number {
    const inner = this.#periods - 2 * edgePeriods;
    if (inner > 0) return (inner * this.#rateHz) / ((this.#latest[0] ?? 0) - this.#innerFrom);
    return this.#periods === 0 ? 0 : (this.#periods * this.#rateHz) / this.#periodSum;
  }

  forget(): void {
    this.#periods = 0;
    this.#periodSum = 0;
    this.#lastCrossing = Number.NEGATIVE_INFINITY;
  }

  hear(samples: Int16Array): void {
    let from = 0;
    while (from < samples.length) {
      const count = Math.min(samples.length - from, this.#blockSamples - this.#inBlock);
      this.#sweep(samples, from, from + count);
      from += count;
      this.#heard += count;
      this.#inBlock += count;
      if (this.#inBlock < this.#blockSamples) return;
      const loud = this.#sum > loudMean * this.#blockSamples;
      this.#inBlock = 0;
      this.#sum = 0;
      this.#listener.block(loud, this.#heard);
    }
  }

  #sweep(samples: Int16Array, from: number, to: number): void {
    const offset = this.#heard - from;
    let sum = 0;
    let previous = this.#previous;
    let armed = this.#armed;
    for (let index = from; index < to; index += 1) {
      const sample = samples[index] as number;
      if (sample < 0) {
        sum -= sample;
        if (sample < -armLevel) armed = true;
      } else {
        sum += sample;
        if (armed) {
          if (previous < 0) this.#candidate = offset + index - sample / (sample - previous);
          if (sample > armLevel) {
            armed = false;
            this.#cross();
          }
        }
      }
      previous = sample;
    }
    this.#sum += sum;
    this.#previous = previous;
    this.#armed = armed;
  }

  #cross(): void {
    const period = this.#candidate - this.#lastCrossing;
    const mean = this.#periodSum / this.#periods;
    // Where a tone is cut the filter in front rings, with periods far shorter than the tone's own.
    if (period * 2 < mean) return;
    this.#lastCrossing = this.#candidate;
    if (period >= this.#periodMax) return;
    if (period > mean * 2 && this.#periods < fewPeriods) {
      this.#periods = 0;
      this.#periodSum = 0;
    }
    this.#periods += 1;
    this.#periodSum += period;
    if (this.#periods === edgePeriods) this.#innerFrom = this.#periodSum;
    this.#latest.shift();
    this.#latest.push(this.#periodSum);
  }
}

const scratch = new Int16Array(32 * 1024);
const scratchBytes = Buffer.from(scratch.buffer);

/**
 * Decodes base64 to samples, valid until the next call; null when it is no base64 of whole samples.
 * Only its length is checked, as a cheap stand-in for its alphabet.
 */
export function samplesOfBase64(text: string): Int16Array | null {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const expected = Math.floor((text.length * 3) / 4) - padding;
  if (expected > scratchBytes.length) {
    const bytes = Buffer.from(text, 'base64');
    if (bytes.length !== expected || expected % 2 !== 0) return null;
    return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + expected));
  }
  const written = scratchBytes.write(text, 'base64');
  return written === expected && written % 2 === 0 ? scratch.subarray(0, written >> 1) : null;
}
