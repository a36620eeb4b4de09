// The low-pass filter behind both directions: one windowed sinc at the common rate of 48 kHz, cut
// into phases. Each is normalized by itself: unequal gains would modulate a constant input.
import { strict as assert } from 'node:assert';

/** Output and input rate as a fraction: `up` outputs for every `down` inputs, in lowest terms. */
export interface Ratio {
  up: number;
  down: number;
}

/** 16 → 24 kHz. */
export const upward: Ratio = { up: 3, down: 2 };
/** 24 → 16 kHz. */
export const downward: Ratio = { up: 2, down: 3 };

/** 62 taps a phase upward, 93 downward; half of them is the delay, 1.9 ms. */
const taps = 186;
const commonRateHz = 48_000;
/** Speech to 7 kHz is flat and 7.2 kHz is all there; so stopping from 8.8 kHz gains 6 dB. */
const cutoffHz = 7_950;
const attenuationDb = 102;

/** Modified Bessel function of the first kind, order 0, by its power series. */
function bessel(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/** Kaiser's window for a side lobe attenuation (Oppenheim and Schafer, section 7.5). */
function kaiser(index: number): number {
  const beta = 0.1102 * (attenuationDb - 8.7);
  const middle = (taps - 1) / 2;
  return bessel(beta * Math.sqrt(1 - ((index - middle) / middle) ** 2)) / bessel(beta);
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/**
 * The coefficients of each output of a group. A group is `up` outputs that read one window of
 * `windowLength` samples, the newest last, and moves it by `down` samples; so all outputs share
 * what is read.
 */
export function groupCoefficients(ratio: Ratio, windowLength: number): Float64Array[] {
  const { up, down } = ratio;
  const middle = (taps - 1) / 2;
  const prototype = Float64Array.from(
    { length: taps },
    (_, index) => sinc(((index - middle) * 2 * cutoffHz) / commonRateHz) * kaiser(index),
  );
  return Array.from({ length: up }, (_, output) => {
    const coefficients = new Float64Array(windowLength);
    // At the common rate, output `output` lies at `output * down`, and sample n at `n * up`.
    const phase = (output * down) % up;
    const newest = (output * down - phase) / up;
    for (let tap = 0; phase + tap * up < taps; tap++) {
      const slot = windowLength - down + newest - tap;
      assert(slot >= 0 && slot < windowLength, 'the window holds every tap');
      coefficients[slot] = prototype[phase + tap * up] ?? 0;
    }
    const gain = coefficients.reduce((sum, value) => sum + value, 0);
    return coefficients.map((value) => value / gain);
  });
}

/** Samples that an output reads at most, as a multiple of 8, the lanes of a vector. */
export function windowLength(ratio: Ratio): number {
  return Math.ceil((Math.ceil(taps / ratio.up) + ratio.down - 1) / 8) * 8;
}
