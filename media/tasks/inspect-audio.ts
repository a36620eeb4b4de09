// Piscina task: what a recording really is. Signature, name and media type, streams and codec, the
// length by decoding, silence, and its hash. It reads a private file, which others delete.
import '../../runtime/work/background.ts';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Container, containerOf, containers, mislabelled } from '../audio/container.ts';
import { decodeAudio, probeAudio } from '../audio/ffmpeg.ts';
import type { AudioTools } from '../audio/tools.ts';

export interface InspectAudioInput {
  path: string;
  filename: string;
  mediaType: string;
  secondsMax: number;
  timeoutMs: number;
  tools: AudioTools;
}

export type InspectedAudio =
  | {
      status: 'good';
      container: Container;
      /** Decoded. */
      seconds: number;
      /** Nothing in it but zeros, or what a codec makes of them. */
      isSilent: boolean;
      /** Hex SHA-256 of the file. */
      sha256: string;
    }
  | { status: 'unprocessable'; message: string }
  | { status: 'too_long' };

/** Encoders' delay and padding lengthen what was 120 s by less than this. */
const paddingSeconds = 0.15;
/** Lossy codecs decode silence to the last bit of noise. */
const silentPeak = 2;

// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default async function inspectAudioTask(input: InspectAudioInput): Promise<InspectedAudio> {
  const { path, filename, mediaType, secondsMax, timeoutMs, tools } = input;
  const bytes = await readFile(path);
  const container = containerOf(bytes);
  if (container === null) return refused('The file is not WebM, Ogg, MP4, MP3 or WAV audio.');
  const wrong = mislabelled(container, filename, mediaType);
  if (wrong !== null) return refused(`The ${wrong} does not match what the file is.`);
  const { demuxer, codec } = containers[container];
  const streams = await probeAudio({ tools, path, demuxer });
  if (streams === null) return refused('The file is damaged.');
  const sounding = streams.filter(({ isAttachedPicture }) => !isAttachedPicture);
  const [audio, ...others] = sounding;
  if (audio?.type !== 'audio' || others.length > 0) {
    return refused('The file must have one audio stream and nothing else.');
  }
  if (!codec.test(audio.codec))
    return refused('The codec is not one that this container may have.');
  const decoded = await decodeAudio({
    tools,
    path,
    demuxer,
    secondsMax: secondsMax + 1,
    timeoutMs,
  });
  if (decoded.seconds > secondsMax + paddingSeconds) return { status: 'too_long' };
  if (!decoded.isWhole) return refused('The file cannot be decoded.');
  return {
    status: 'good',
    container,
    seconds: Math.min(decoded.seconds, secondsMax),
    isSilent: decoded.peak <= silentPeak,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}

function refused(message: string): InspectedAudio {
  return { status: 'unprocessable', message };
}
