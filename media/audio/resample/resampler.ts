// One stream through the resampler on the caller's thread, in pieces of any length: the output is
// the same however the input is cut. Many live streams go through media/audio/lanes instead.
import { groupsPerBlock, type Kernel, openKernel } from './kernel.ts';
import { allocateMemory, placeCoefficients } from './memory.ts';
import { createPlan, type Plan } from './plan.ts';
import { downward, type Ratio, upward } from './prototype.ts';

export interface Resampler {
  /**
   * All output that `samples` completes: int16 at the output rate, saturated; a copy. The output
   * lies 1.9 ms behind the input, and begins with silence before the first sample.
   */
  push(samples: Int16Array): Int16Array;
}

/** Groups of one call of the kernel; longer input is cut. */
const groupsMax = 64 * groupsPerBlock;

class StreamResampler implements Resampler {
  readonly #plan: Plan;
  readonly #kernel: Kernel;
  /** The window before the next sample, then the samples that no group has consumed yet. */
  readonly #source: Int16Array;
  readonly #target: Int16Array;
  readonly #history: number;
  #pending = 0;

  constructor(ratio: Ratio) {
    this.#plan = createPlan(ratio);
    this.#history = this.#plan.windowLength - ratio.down;
    const coefficientBytes = this.#plan.coefficients.byteLength;
    // The last block may read and write up to three groups beyond the last one.
    const sourceLength = this.#history + (groupsMax + groupsPerBlock) * ratio.down;
    const targetLength = (groupsMax + groupsPerBlock) * ratio.up;
    const memory = allocateMemory(coefficientBytes + 2 * (sourceLength + targetLength));
    placeCoefficients(memory, 0, this.#plan);
    this.#source = new Int16Array(memory.buffer, coefficientBytes, sourceLength);
    const targetOffset = coefficientBytes + 2 * sourceLength;
    this.#target = new Int16Array(memory.buffer, targetOffset, targetLength);
    this.#kernel = openKernel(this.#plan, memory);
  }

  push(samples: Int16Array): Int16Array {
    const { up, down } = this.#plan.ratio;
    const total = Math.floor((this.#pending + samples.length) / down) * up;
    const output = new Int16Array(total);
    let written = 0;
    for (let taken = 0; taken < samples.length; ) {
      const room = groupsMax * down - this.#pending;
      const part = samples.subarray(taken, taken + room);
      this.#source.set(part, this.#history + this.#pending);
      this.#pending += part.length;
      taken += part.length;
      const groups = Math.floor(this.#pending / down);
      if (groups === 0) continue;
      const blocks = Math.ceil(groups / groupsPerBlock);
      this.#kernel(this.#source.byteOffset, this.#target.byteOffset, 0, blocks);
      output.set(this.#target.subarray(0, groups * up), written);
      written += groups * up;
      const consumed = groups * down;
      this.#source.copyWithin(0, consumed, this.#history + this.#pending);
      this.#pending -= consumed;
    }
    return output;
  }
}

/** 16 → 24 kHz or 24 → 16 kHz, mono. */
export function createResampler(direction: 'up' | 'down'): Resampler {
  return new StreamResampler(direction === 'up' ? upward : downward);
}
