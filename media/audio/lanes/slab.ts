// One shared memory for all lanes of a shard: coefficients, the table of the batch in flight, its
// output, and for each lane two halves of input. State is in here only, so any thread can go on.
import { strict as assert } from 'node:assert';
import { groupsPerBlock, type Kernel, openKernel } from '../resample/kernel.ts';
import { allocateMemory, placeCoefficients } from '../resample/memory.ts';
import { createPlan, type Plan } from '../resample/plan.ts';
import { upward } from '../resample/prototype.ts';
import { type Control, controlBytes, openControl, serve, type Term } from './control.ts';
import { openWords } from './words.ts';

export const inputFrameBytes = 1_024;
export const bytesPerSample = 2;

/** A row of the table: where input begins, where output goes, how many blocks. */
const jobLength = 3;
export const jobsMax = 1_024;
const tableOffset = 4_096;
const controlOffset = tableOffset - controlBytes;
const outputOffset = tableOffset + jobsMax * jobLength * Int32Array.BYTES_PER_ELEMENT;
/** 512 frames of output: what 300 sessions bring in 55 ms. A batch takes no more. */
const outputBytes = 512 * inputFrameBytes * 1.5;
const lanesOffset = outputOffset + outputBytes;

/** Frames in one half. A backlog of more waits in ordinary memory. */
const halfFramesMax = 4;
/** Before the input of a half: what the filter still sees of the samples before. */
const historyBytes = 128;
/** The kernel reads whole blocks: up to three groups beyond the input. */
const marginBytes = 64;
const halfBytes = historyBytes + halfFramesMax * inputFrameBytes + marginBytes;

/** What is pushed at once must fit in a half. */
export const frameBytesMax = halfFramesMax * inputFrameBytes;
/** What a half holds at most, in samples. */
export const halfSamplesMax = (halfFramesMax * inputFrameBytes) / bytesPerSample;

export interface Slab {
  readonly memory: WebAssembly.Memory;
  readonly control: Control;
  readonly plan: Plan;
  readonly lanesMax: number;
  /** Samples before the first new one that the filter reads. */
  readonly historySamples: number;
  readonly outputBytesMax: number;
  /** Copies a frame behind the first `samples` samples of a half. */
  write(lane: number, half: 0 | 1, samples: number, frame: Uint8Array): void;
  /**
   * Copies `length` samples from `first` on, which may lie before the half, in its history, to the
   * beginning of the history of the other half.
   */
  carry(lane: number, half: 0 | 1, first: number, length: number): void;
  /** Clears the history of a lane, for its next user. */
  forget(lane: number): void;
  /** Writes a row: `blocks` of input from this half to `outputByte` of the output. */
  setJob(row: number, lane: number, half: 0 | 1, outputByte: number, blocks: number): void;
  /** Output of the batch that was computed last. */
  output(byte: number, bytes: number): Uint8Array;
}

export function createSlab(lanesMax: number): Slab {
  const memory = allocateMemory(lanesOffset + lanesMax * 2 * halfBytes);
  const plan = createPlan(upward);
  const coefficientBytes = placeCoefficients(memory, 0, plan);
  const historySamples = plan.windowLength - plan.ratio.down;
  assert(coefficientBytes <= controlOffset, 'the coefficients end before the control words');
  assert(historySamples * bytesPerSample <= historyBytes, 'the history fits before a half');
  const table = new Int32Array(memory.buffer, tableOffset, jobsMax * jobLength);
  const bytes = new Uint8Array(memory.buffer);
  const samples = new Int16Array(memory.buffer);
  const samplesOffset = (lane: number, half: 0 | 1) =>
    lanesOffset + (2 * lane + half) * halfBytes + historyBytes;
  return {
    memory,
    control: openControl(openWords(memory.buffer, controlOffset, controlBytes)),
    plan,
    lanesMax,
    historySamples,
    outputBytesMax: outputBytes,
    write(lane, half, filled, frame) {
      bytes.set(frame, samplesOffset(lane, half) + filled * bytesPerSample);
    },
    carry(lane, half, first, length) {
      const from = samplesOffset(lane, half) / bytesPerSample + first;
      const other = samplesOffset(lane, half === 0 ? 1 : 0) / bytesPerSample;
      samples.copyWithin(other - historySamples, from, from + length);
    },
    forget(lane) {
      const end = samplesOffset(lane, 0) / bytesPerSample;
      samples.fill(0, end - historySamples, end);
    },
    setJob(row, lane, half, outputByte, blocks) {
      const first = row * jobLength;
      table[first] = samplesOffset(lane, half) - historySamples * bytesPerSample;
      table[first + 1] = outputOffset + outputByte;
      table[first + 2] = blocks;
    },
    output(byte, bytes) {
      return new Uint8Array(memory.buffer, outputOffset + byte, bytes);
    },
  };
}

/** Output of whole blocks, which may be more than what is asked for. */
export function blocksFor(plan: Plan, groups: number): { blocks: number; bytes: number } {
  const blocks = Math.ceil(groups / groupsPerBlock);
  return { blocks, bytes: blocks * groupsPerBlock * plan.ratio.up * bytesPerSample };
}

/** The other side: computes batches on the thread that calls it, which blocks for a term. */
export function openService(memory: WebAssembly.Memory): (term: Term) => void {
  const kernel: Kernel = openKernel(createPlan(upward), memory);
  const table = new Int32Array(memory.buffer, tableOffset, jobsMax * jobLength);
  const words = openWords(memory.buffer, controlOffset, controlBytes);
  const compute = (jobs: number, isOver: () => boolean) => {
    // A thread that was dismissed must not write what its successor writes.
    for (let row = 0; row < jobs && !isOver(); row++) {
      const first = row * jobLength;
      kernel(table[first] ?? 0, table[first + 1] ?? 0, 0, table[first + 2] ?? 0);
    }
  };
  return (term) => serve(words, term, compute);
}
