// Audio for the tests of the simulator's live families, and events gathered with a deadline.
import assert from 'node:assert/strict';
import { tonePcm } from '../../../bench/sim/sound/tone.ts';

export function tone(pitchHz: number, ms: number, rateHz: number): Buffer {
  return tonePcm(pitchHz, Math.round((ms * rateHz) / 1000), rateHz);
}

export function silence(ms: number, rateHz: number): Buffer {
  return Buffer.alloc(Math.round((ms * rateHz) / 1000) * 2);
}

/** A turn of the user: a tone, then the silence that ends it. */
export function spoken(pitchHz: number, ms: number, rateHz: number): Buffer {
  return Buffer.concat([tone(pitchHz, ms, rateHz), silence(640, rateHz)]);
}

/** Frames of 32 ms. */
export function framesOf(pcm: Buffer, rateHz: number): Buffer[] {
  const size = (rateHz * 32 * 2) / 1000;
  const frames: Buffer[] = [];
  for (let from = 0; from < pcm.length; from += size) frames.push(pcm.subarray(from, from + size));
  return frames;
}

/** What came so far, and waits for what is to come. */
export class Gathered<T> {
  readonly all: T[] = [];
  #wake: (() => void)[] = [];

  push(value: T): void {
    this.all.push(value);
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** The first from `from` on that fits; fails after `deadlineMs`. */
  async until(fits: (value: T) => boolean, from = 0, deadlineMs = 30_000): Promise<T> {
    const endMs = performance.now() + deadlineMs;
    for (let index = from; ; index += 1) {
      while (index >= this.all.length) await this.#next(endMs);
      const value = this.all[index];
      if (value !== undefined && fits(value)) return value;
    }
  }

  async #next(endMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, endMs - performance.now()));
      this.#wake.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    const tail = JSON.stringify(this.all.slice(-6)).slice(0, 600);
    assert.ok(performance.now() < endMs, `not in time; last of ${this.all.length}: ${tail}`);
  }
}

/** Pitch of PCM by its rising zero crossings. */
export function pitchOf(pcm: Buffer, rateHz: number): number {
  let crossings = 0;
  let first = -1;
  let last = -1;
  for (let index = 1; index < pcm.length / 2; index += 1) {
    if (pcm.readInt16LE(index * 2 - 2) >= 0 || pcm.readInt16LE(index * 2) < 0) continue;
    crossings += 1;
    if (first < 0) first = index;
    last = index;
  }
  return Math.round(((crossings - 1) * rateHz) / (last - first));
}
