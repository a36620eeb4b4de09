// From the microphone's own rate to 16 kHz, for browsers that cannot do it themselves: a windowed
// sinc of which every output takes the phase nearest to its place. The state spans all calls.

const PHASES = 256;
/** Zero crossings of the sinc on each side. */
const CROSSINGS = 16;
/** Of the lower of the two rates; the rest of its half is for the slope of the filter. */
const PASS = 0.9;

export class Resampler {
  readonly #step: number;
  readonly #taps: number;
  readonly #table: Float32Array;
  #history: Float32Array;
  /** Of the next output, in input samples from the start of the history. */
  #place: number;

  constructor(fromHz: number, toHz: number) {
    this.#step = fromHz / toHz;
    const stretch = Math.max(1, this.#step);
    const half = Math.ceil(CROSSINGS * stretch);
    this.#taps = 2 * half;
    this.#table = buildTable(half, PASS / stretch);
    this.#history = new Float32Array(this.#taps);
    this.#place = half;
  }

  /** All outputs that the input so far makes possible. */
  process(input: Float32Array): Float32Array {
    const taps = this.#taps;
    const samples = new Float32Array(this.#history.length + input.length);
    samples.set(this.#history);
    samples.set(input, this.#history.length);
    const half = taps / 2;
    const end = samples.length - half;
    const output = new Float32Array(Math.ceil(input.length / this.#step) + 1);
    let count = 0;
    while (this.#place < end) {
      const whole = Math.floor(this.#place);
      const phase = Math.round((this.#place - whole) * PHASES);
      const first = whole - half + 1;
      let sum = 0;
      for (let tap = 0; tap < taps; tap++) {
        sum += (samples[first + tap] ?? 0) * (this.#table[phase * taps + tap] ?? 0);
      }
      output[count++] = sum;
      this.#place += this.#step;
    }
    const used = Math.max(0, Math.floor(this.#place) - half);
    this.#history = samples.slice(used);
    this.#place -= used;
    return output.subarray(0, count);
  }
}

/** Coefficients of every phase, each with a sum of one: all phases are equally loud. */
function buildTable(half: number, cutoff: number): Float32Array {
  const taps = 2 * half;
  const table = new Float32Array((PHASES + 1) * taps);
  for (let phase = 0; phase <= PHASES; phase++) {
    const row = table.subarray(phase * taps, (phase + 1) * taps);
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      const x = tap - half + 1 - phase / PHASES;
      const angle = Math.PI * x * cutoff;
      const sinc = x === 0 ? 1 : Math.sin(angle) / angle;
      const window = Math.abs(x) < half ? 0.5 + 0.5 * Math.cos((Math.PI * x) / half) : 0;
      row[tap] = sinc * window;
      sum += sinc * window;
    }
    for (let tap = 0; tap < taps; tap++) row[tap] = (row[tap] ?? 0) / sum;
  }
  return table;
}
