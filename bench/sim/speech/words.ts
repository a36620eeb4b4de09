// How a text sounds: one tone burst in a slot for each word. Slots are whole MP3 frames of 24 ms:
// every format has the same audio then, and MP3 can be put together from frames made once.
import { outputRateHz, tonePcm } from '../sound/tone.ts';

export const frameSamples = 576;
/** Pitches of words, in Hertz: 300, 350, … 1250. */
export const pitchCount = 20;

const slotFramesAtNormalSpeed = 20;
const slotFramesMin = 5;
const fadeSamples = 120;
const slotsMax = 200;

const slots = new Map<string, Buffer>();

export function wordsOf(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}

/** Which pitch: the word's place in the text plus its length in characters, round about. */
export function pitchIndexOf(word: string, place: number): number {
  return (place + [...word].length) % pitchCount;
}

export function pitchHzOf(pitchIndex: number): number {
  return 300 + 50 * pitchIndex;
}

/** 20 frames, 480 ms, at speed 1. */
export function slotFramesOf(speed: number): number {
  return Math.max(slotFramesMin, Math.round(slotFramesAtNormalSpeed / speed));
}

/** A sixth of silence, four sixths of tone, a sixth of silence; null: all silence. */
export function slotPcm(pitchIndex: number | null, frames: number): Buffer {
  const key = `${pitchIndex} ${frames}`;
  let slot = slots.get(key);
  if (slot === undefined) {
    if (slots.size >= slotsMax) slots.clear();
    slot = makeSlot(pitchIndex, frames);
    slots.set(key, slot);
  }
  return slot;
}

function makeSlot(pitchIndex: number | null, frames: number): Buffer {
  const samples = frames * frameSamples;
  const slot = Buffer.alloc(samples * 2);
  if (pitchIndex === null) return slot;
  const edge = Math.round(samples / 6);
  const tone = tonePcm(pitchHzOf(pitchIndex), samples - 2 * edge, outputRateHz);
  const length = tone.length / 2;
  for (let index = 0; index < fadeSamples; index += 1) {
    for (const at of [index, length - 1 - index]) {
      tone.writeInt16LE(Math.round((tone.readInt16LE(at * 2) * index) / fadeSamples), at * 2);
    }
  }
  tone.copy(slot, edge * 2);
  return slot;
}
