// The loudspeaker's worklet: takes 24 kHz samples, plays them through a jitter buffer, and tells
// the page 30 times a second what it holds and how loud it is.
import { JitterBuffer } from './jitter-buffer.ts';

export interface PlaybackReport {
  bufferedMs: number;
  underruns: number;
  isPlaying: boolean;
  /** Root mean square since the last report, 0 to 1. */
  level: number;
}

export type PlaybackOrder = { kind: 'audio'; pcm: ArrayBuffer } | { kind: 'clear' };

const REPORT_SECONDS = 1 / 30;
const TARGET_MS = 60;
const TARGET_MS_MAX = 400;
const CAPACITY_MS = 10_000;

class PlaybackProcessor extends AudioWorkletProcessor {
  readonly #buffer = new JitterBuffer({
    rateHz: sampleRate,
    targetMs: TARGET_MS,
    targetMsMax: TARGET_MS_MAX,
    capacityMs: CAPACITY_MS,
  });
  #energy = 0;
  #samples = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<PlaybackOrder>) => {
      if (data.kind === 'clear') this.#buffer.clear();
      else this.#buffer.push(samplesOf(data.pcm));
    };
  }

  override process(
    _inputs: readonly (readonly Float32Array[])[],
    outputs: readonly (readonly Float32Array[])[],
  ): boolean {
    const output = outputs[0]?.[0];
    if (output === undefined) return true;
    this.#buffer.pull(output);
    for (const sample of output) this.#energy += sample * sample;
    this.#samples += output.length;
    if (this.#samples >= sampleRate * REPORT_SECONDS) this.#report();
    return true;
  }

  #report(): void {
    const { bufferedMs, underruns, isPlaying } = this.#buffer;
    const level = Math.sqrt(this.#energy / this.#samples);
    this.port.postMessage({ bufferedMs, underruns, isPlaying, level } satisfies PlaybackReport);
    this.#energy = 0;
    this.#samples = 0;
  }
}

/** Little-endian 16-bit integers as numbers from -1 to 1. */
function samplesOf(pcm: ArrayBuffer): Float32Array {
  const view = new DataView(pcm);
  const samples = new Float32Array(pcm.byteLength >> 1);
  for (let index = 0; index < samples.length; index++) {
    samples[index] = view.getInt16(index * 2, true) / 32_768;
  }
  return samples;
}

registerProcessor('playback', PlaybackProcessor);
