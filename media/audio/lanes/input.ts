// Input of one lane: two halves in the slab, one being filled while the other is computed, and
// behind them a bounded backlog in ordinary memory, for what a client sends at once after a pause.
import { bytesPerSample, halfSamplesMax, inputFrameBytes, type Slab } from './slab.ts';

/**
 * 7.7 s: the 2 s that were kept before a session was ready, the 5 s that a network that stalled may
 * bring at once behind them, and a batch that is late.
 */
export const backlogBytesMax = 240 * inputFrameBytes;

export class LaneInput {
  readonly slot: number;
  readonly #slab: Slab;
  #filling: 0 | 1 = 0;
  /** Samples in the half that is filled. */
  samples = 0;
  #backlog: Uint8Array[] = [];
  #backlogBytes = 0;

  constructor(slab: Slab, slot: number) {
    this.#slab = slab;
    this.slot = slot;
    slab.forget(slot);
  }

  /** Copies whole samples. False: no room. */
  push(frame: Uint8Array): boolean {
    const fits = this.samples + frame.byteLength / bytesPerSample <= halfSamplesMax;
    if (this.#backlogBytes === 0 && fits) {
      this.#put(frame);
      return true;
    }
    if (this.#backlogBytes + frame.byteLength > backlogBytesMax) return false;
    this.#backlog.push(new Uint8Array(frame));
    this.#backlogBytes += frame.byteLength;
    return true;
  }

  /**
   * The half with the next `consumed` samples, for computing; from here on the other one is filled.
   * It begins with what the filter still sees of the samples before, and a rest that was too short.
   */
  swap(consumed: number): 0 | 1 {
    const half = this.#filling;
    this.#filling = half === 0 ? 1 : 0;
    const { historySamples } = this.#slab;
    const rest = this.samples - consumed;
    this.#slab.carry(this.slot, half, consumed - historySamples, historySamples + rest);
    this.samples = rest;
    this.#refill();
    return half;
  }

  #put(frame: Uint8Array): void {
    this.#slab.write(this.slot, this.#filling, this.samples, frame);
    this.samples += frame.byteLength / bytesPerSample;
  }

  #refill(): void {
    let moved = 0;
    for (const frame of this.#backlog) {
      if (this.samples + frame.byteLength / bytesPerSample > halfSamplesMax) break;
      this.#put(frame);
      this.#backlogBytes -= frame.byteLength;
      moved += 1;
    }
    if (moved > 0) this.#backlog = this.#backlog.slice(moved);
  }
}
