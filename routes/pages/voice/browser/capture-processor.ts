// The microphone's worklet: 16 kHz samples in frames of 512, as little-endian 16-bit integers, each
// sent to the page with its loudness.
import { Resampler } from './resampler.ts';
import { FRAME_SAMPLES, INPUT_RATE_HZ } from './wire.ts';

export interface CapturedFrame {
  /** 1,024 bytes, transferred. */
  pcm: ArrayBuffer;
  /** Root mean square, 0 to 1. */
  level: number;
}

class CaptureProcessor extends AudioWorkletProcessor {
  readonly #resampler = sampleRate === INPUT_RATE_HZ ? null : new Resampler(sampleRate, 16_000);
  readonly #frame = new Float32Array(FRAME_SAMPLES);
  #filled = 0;

  override process(inputs: readonly (readonly Float32Array[])[]): boolean {
    const input = inputs[0]?.[0];
    if (input === undefined) return true;
    for (const sample of this.#resampler?.process(input) ?? input) {
      this.#frame[this.#filled++] = sample;
      if (this.#filled === FRAME_SAMPLES) this.#send();
    }
    return true;
  }

  #send(): void {
    this.#filled = 0;
    const pcm = new DataView(new ArrayBuffer(FRAME_SAMPLES * 2));
    let energy = 0;
    this.#frame.forEach((sample, index) => {
      const bounded = Math.max(-1, Math.min(1, sample));
      energy += bounded * bounded;
      pcm.setInt16(index * 2, Math.round(bounded * 32_767), true);
    });
    const message: CapturedFrame = {
      pcm: pcm.buffer,
      level: Math.sqrt(energy / FRAME_SAMPLES),
    };
    this.port.postMessage(message, [message.pcm]);
  }
}

registerProcessor('capture', CaptureProcessor);
