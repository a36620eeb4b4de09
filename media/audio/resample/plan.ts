// The coefficients as 16-bit integers, for a kernel that multiplies int16 eight at a time. One
// scale would leave images at -83 dB: each stage has its own, and the largest ones have two parts.
import { strict as assert } from 'node:assert';
import { groupCoefficients, type Ratio, windowLength } from './prototype.ts';

/** Int16 values that one vector instruction multiplies; it adds them up in pairs, to four lanes. */
export const vectorLength = 8;

/** One pass over some vectors of the window; the sum is then shifted to the scale of the next. */
export interface Stage {
  /** Coefficients are multiplied by 2 to the power of this. */
  scaleBits: number;
  /** Which vectors of the window, in the order of the coefficients. */
  vectors: number[];
}

/** What the kernel computes: the stages in order, from the finest scale to the coarsest. */
export interface Plan {
  ratio: Ratio;
  /** Samples that a group of outputs reads. */
  windowLength: number;
  /** The last one's scale is that of the result. */
  stages: Stage[];
  /** By stage, vector and output: eight coefficients each. */
  coefficients: Int16Array;
}

/** The scale of the result: the sum of all products fits in 32 bits, asserted below. */
const resultBits = 14;
/** What the coarse part of a large coefficient leaves, which is half of its unit at most. */
const remainderBits = 28;
/** Vectors with the large coefficients, in the middle of the window. */
const middleVectors = 2;
const sampleMagnitudeMax = 2 ** 15;
const coefficientMax = 32_767;
const lanes = 4;

type Part = (value: number) => number;
interface Draft extends Stage {
  part: Part;
}

const rounding =
  (bits: number): Part =>
  (value) =>
    Math.round(value * 2 ** bits);
const coarse = rounding(resultBits);
const remainder: Part = (value) => rounding(remainderBits)(value - coarse(value) / 2 ** resultBits);

const slice = (values: Float64Array, vector: number) =>
  values.subarray(vector * vectorLength, (vector + 1) * vectorLength);

/** The largest sum of each lane that any input can make in these stages; null: too large. */
function largestSums(stages: readonly Draft[], values: Float64Array): Float64Array | null {
  const sums = new Float64Array(lanes);
  let bits = remainderBits;
  for (const { vectors, scaleBits, part } of stages) {
    sums.forEach((sum, lane) => {
      sums[lane] = sum / 2 ** (bits - scaleBits);
    });
    bits = scaleBits;
    for (const vector of vectors) {
      for (const [index, value] of slice(values, vector).entries()) {
        const factor = Math.abs(part(value));
        if (factor > coefficientMax) return null;
        sums[index >> 1] = (sums[index >> 1] ?? 0) + factor * sampleMagnitudeMax;
      }
    }
    if (Math.max(...sums) >= 2 ** 31) return null;
  }
  return sums;
}

/** The stage at the finest scale with which no output can wrap around. */
function finest(before: readonly Draft[], vectors: number[], outputs: Float64Array[]): Draft {
  for (let scaleBits = remainderBits; scaleBits > resultBits; scaleBits--) {
    const stage = { scaleBits, vectors, part: rounding(scaleBits) };
    if (outputs.every((values) => largestSums([...before, stage], values) !== null)) return stage;
  }
  throw new Error('no scale fits');
}

/** From the outside to the middle, where coefficients are largest. */
function draftStages(outputs: Float64Array[], vectors: number): Draft[] {
  const middle = (vectors - middleVectors) / 2;
  const distance = (vector: number) =>
    Math.max(middle - vector, vector - middle - middleVectors + 1);
  const all = Array.from({ length: vectors }, (_, vector) => vector);
  const central = all.filter((vector) => distance(vector) <= 0);
  const stages: Draft[] = [{ scaleBits: remainderBits, vectors: central, part: remainder }];
  for (const some of [
    all.filter((vector) => distance(vector) > 1),
    all.filter((vector) => distance(vector) === 1),
  ]) {
    stages.push(finest(stages, some, outputs));
  }
  stages.push({ scaleBits: resultBits, vectors: central, part: coarse });
  return stages;
}

/** Gives the error of all rounding to the largest coefficient, which has the finest scale. */
function balance(stages: readonly Draft[], values: Float64Array): Float64Array {
  const kept = (vector: number, value: number) =>
    stages
      .filter(({ vectors }) => vectors.includes(vector))
      .reduce((sum, { scaleBits, part }) => sum + part(value) / 2 ** scaleBits, 0);
  const balanced = values.map((value, slot) => kept(Math.floor(slot / vectorLength), value));
  const gain = balanced.reduce((sum, value) => sum + value, 0);
  const largest = balanced.indexOf(Math.max(...balanced));
  balanced[largest] = (balanced[largest] ?? 0) + 1 - gain;
  return balanced;
}

function assertNoOverflow(stages: readonly Draft[], values: Float64Array): void {
  const sums = largestSums(stages, values);
  assert(sums !== null, 'no lane wraps around');
  const total = sums.reduce((sum, lane) => sum + lane, 0);
  assert(total + 2 ** resultBits < 2 ** 31, 'the sum of the lanes does not wrap around');
}

export function createPlan(ratio: Ratio): Plan {
  const length = windowLength(ratio);
  const ideal = groupCoefficients(ratio, length);
  const drafts = draftStages(ideal, length / vectorLength);
  const outputs = ideal.map((values) => balance(drafts, values));
  for (const values of outputs) assertNoOverflow(drafts, values);
  const coefficients = drafts.flatMap(({ vectors, part }) =>
    vectors.flatMap((vector) => outputs.flatMap((values) => [...slice(values, vector)].map(part))),
  );
  return {
    ratio,
    windowLength: length,
    stages: drafts.map(({ scaleBits, vectors }) => ({ scaleBits, vectors })),
    coefficients: Int16Array.from(coefficients),
  };
}
