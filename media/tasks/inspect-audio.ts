// Piscina task: what a recording really is. Signature, name and media type, streams and codec, the
// length by decoding, silence, and its hash. It reads a private file, which others delete.
import '../../runtime/work/background.ts';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { holdsNothing, isAmbiguous, readOptionsOf } from '../audio/claims.ts';
import {
  type Container,
  containerLabelled,
  containerOf,
  containers,
  mislabelled,
} from '../audio/container.ts';
import { decodeAudio, type ProbedStream, probeAudio } from '../audio/ffmpeg.ts';
import type { MediaTools } from '../tools/tools.ts';

export interface InspectAudioInput {
  path: string;
  filename: string;
  mediaType: string;
  secondsMax: number;
  timeoutMs: number;
  tools: MediaTools;
}

export type InspectedAudio =
  | {
      status: 'good';
      container: Container;
      /** Decoded. */
      seconds: number;
      /** Nothing in it but zeros, or what a lossy codec makes of them. */
      isSilent: boolean;
      /** Hex SHA-256 of the file. */
      sha256: string;
    }
  | { status: 'unprocessable'; message: string }
  | { status: 'too_long' }
  /** The decoder had too few turns on a busy machine. */
  | { status: 'late' };

/** Lossy encoders' delay and padding lengthen 120 s by less than the longer of these. */
const paddingSeconds = 0.15;
/** AAC has the most: Apple's delay and the rest of a frame, at 7,350 Hz or more. */
const paddingSamples = 2_112 + 1_024;
const paddedRateHzMin = 7_350;
/** HE-AAC: the most that Fraunhofer's encoder delays version 2, and the rest of its frame. */
const highEfficiencySamples = 7_168 + 2_048;
/** Lossy codecs decode silence to the last bits of noise: of sixteen. */
const lossySilentPeak = 2 / 32_768;
/** A-law (ITU-T G.711) has no zero: silence is its least value. */
const alawSilentPeak = 8 / 32_768;

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default async function inspectAudioTask(input: InspectAudioInput): Promise<InspectedAudio> {
  const { path, filename, mediaType, secondsMax, timeoutMs, tools } = input;
  const bytes = await readFile(path);
  const isEmpty = bytes.length === 0;
  const container = isEmpty ? containerLabelled(filename, mediaType) : containerOf(bytes);
  if (container === null) return refused('The file is not WebM, Ogg, MP4, MP3 or WAV audio.');
  const wrong = mislabelled(container, filename, mediaType);
  const { title, demuxer, codec, isLossless } = containers[container];
  if (wrong !== null) {
    return refused(`The ${wrong} does not match what the file is: by its first bytes ${title}.`);
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  // What a browser hands over that was stopped before it recorded anything.
  const nothing = { status: 'good', container, seconds: 0, isSilent: true, sha256 } as const;
  if (isEmpty) return nothing;
  if (isAmbiguous(container, bytes)) return refused('The file must have one data chunk.');
  const source = { tools, path, demuxer, readOptions: readOptionsOf(container, bytes) };
  const streams = await probeAudio(source);
  if (streams === null) {
    return holdsNothing(container, bytes) ? nothing : refused('The file is damaged.');
  }
  // Beside the sound: covers, and the names of chapters, which an MP4 has in a stream of data.
  const isBeside = ({ isAttachedPicture, type }: ProbedStream) =>
    isAttachedPicture || type === 'data';
  const [audio, ...others] = streams.filter((stream) => !isBeside(stream));
  if (audio?.type !== 'audio' || others.length > 0) {
    return refused('The file must have one audio stream and nothing else.');
  }
  if (!codec.test(audio.codec))
    return refused('The codec is not one that this container may have.');
  if (audio.rateHz === 0 || audio.channels === 0) return refused('The file is damaged.');
  const decoded = await decodeAudio({
    ...source,
    rateHz: audio.rateHz,
    channels: audio.channels,
    secondsMax: secondsMax + 1,
    timeoutMs,
  });
  const paddingMax = isLossless ? 0 : paddingOf(audio);
  if (decoded.seconds > secondsMax + paddingMax) return { status: 'too_long' };
  if (decoded.isLate) return { status: 'late' };
  if (!decoded.isWhole) return refused('The file cannot be decoded.');
  return {
    status: 'good',
    container,
    seconds: Math.min(decoded.seconds, secondsMax),
    isSilent: decoded.peak <= silentPeakOf(audio.codec, isLossless),
    sha256,
  };
}

function silentPeakOf(codec: string, isLossless: boolean): number {
  if (codec === 'pcm_alaw') return alawSilentPeak;
  return isLossless ? 0 : lossySilentPeak;
}

function paddingOf({ rateHz, isHighEfficiency }: ProbedStream): number {
  const longest = isHighEfficiency
    ? highEfficiencySamples / Math.max(rateHz, 2 * paddedRateHzMin)
    : paddingSamples / Math.max(rateHz, paddedRateHzMin);
  return Math.max(paddingSeconds, longest);
}

function refused(message: string): InspectedAudio {
  return { status: 'unprocessable', message };
}
