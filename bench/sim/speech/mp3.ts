// Words as MP3: all pitches are encoded once for each length of slot, and the frames of the words
// put in a row. Without the bit reservoir frames stand alone; slots meet in silence: no click.
import { runFfmpeg } from '../sound/ffmpeg.ts';
import { outputRateHz } from '../sound/tone.ts';
import { pitchCount, slotPcm } from './words.ts';

/** MPEG-2 layer III, 24 kHz, 64 kbit/s: every frame has this length. */
const frameBytes = 192;
/** The encoder's delay of 1,105 samples: what it was given appears so many frames later. */
const delayFrames = 2;
const encoderOptions = [
  ...['-f', 's16le', '-ar', String(outputRateHz), '-ac', '1', '-i', 'pipe:0'],
  ...['-c:a', 'libmp3lame', '-b:a', '64k', '-reservoir', '0'],
  ...['-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3', 'pipe:1'],
];

const encoded = new Map<number, Promise<Mp3Slots | null>>();

export interface Mp3Slots {
  /** Null: silence. */
  slot(pitchIndex: number | null): Buffer;
}

/** Null: the encoder failed. */
export function mp3Slots(frames: number): Promise<Mp3Slots | null> {
  let made = encoded.get(frames);
  if (made === undefined) {
    made = encode(frames);
    encoded.set(frames, made);
  }
  return made;
}

async function encode(frames: number): Promise<Mp3Slots | null> {
  const pitches = Array.from({ length: pitchCount }, (_, index) => index);
  const pcm = [null, ...pitches, null].map((pitch) => slotPcm(pitch, frames));
  const bytes = await runFfmpeg(encoderOptions, Buffer.concat(pcm));
  if (bytes === null || bytes.length < frameBytes * frames * (pitchCount + 2)) return null;
  return {
    slot: (pitchIndex) => {
      const from = (pitchIndex === null ? 0 : pitchIndex + 1) * frames + delayFrames;
      return bytes.subarray(from * frameBytes, (from + frames) * frameBytes);
    },
  };
}
