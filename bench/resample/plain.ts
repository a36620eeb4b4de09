// The resampler that one would write first: the same filter in plain JavaScript, a loop over the
// taps for each sample. It shows what the kernel and its integers are for.
import { groupCoefficients, upward, windowLength } from '../../media/audio/resample/prototype.ts';

/** A stream of frames of 512 samples; each gives 768. */
export function createPlainResampler(): (frame: Int16Array) => Int16Array {
  const length = windowLength(upward);
  const history = length - upward.down;
  const taps = groupCoefficients(upward, length);
  const input = new Float64Array(history + 512);
  return (frame) => {
    input.copyWithin(0, 512);
    input.set(frame, history);
    const output = new Int16Array(768);
    for (let group = 0; group < 256; group++) {
      for (let phase = 0; phase < 3; phase++) {
        const factors = taps[phase] ?? input;
        let sum = 0;
        for (let tap = 0; tap < length; tap++) {
          sum += (factors[tap] ?? 0) * (input[group * 2 + tap] ?? 0);
        }
        output[group * 3 + phase] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
      }
    }
    return output;
  };
}
