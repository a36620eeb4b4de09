// Videos for tests, small and quickly made by the packaged ffmpeg, and what is wrong with some.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ffmpegInstaller from '@ffmpeg-installer/ffmpeg';
import { prepareTools } from '../../media/tools/tools.ts';
import type { VideoTools } from '../../media/video/video-tools.ts';

const run = promisify(execFile);

/** A private folder with the programs and whatever a test writes there. */
export interface VideoFolder {
  path: string;
  tools: VideoTools;
  remove(): Promise<void>;
}

export async function openVideoFolder(): Promise<VideoFolder> {
  const path = await mkdtemp(join(tmpdir(), 'tollgate-video-'));
  const prepare = (name: string, cpuSecondsMax: number) =>
    prepareTools({
      folder: join(path, name),
      ffmpegPath: null,
      ffprobePath: null,
      memoryBytesMax: 1_024 * 2 ** 20,
      cpuSecondsMax,
    });
  const quick = await prepare('quick', 10);
  const patient = await prepare('patient', 40);
  return {
    path,
    tools: { quick, patient, timeoutMs: 60_000 },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** Runs ffmpeg unbounded; its last argument is a file of the test's own. */
export async function makeVideo(...options: readonly string[]): Promise<void> {
  await run(ffmpegInstaller.path, ['-v', 'error', '-nostdin', '-y', ...options]);
}

/** Moving bars, as an input. */
export function bars(seconds: number, size = '1280x720', rate = 10): string[] {
  return ['-f', 'lavfi', '-i', `smptebars=s=${size}:r=${rate}:d=${seconds},hue=h=30*t`];
}

/** A tone, as an input. */
export function tones(seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `sine=d=${seconds}`];
}

/** H.264 for an output, as fast as it gets. */
export const h264 = [
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
  ...['-crf', '40', '-threads', '2'],
];

/**
 * A grey that grows with each second, as an input. `secondShownBy` reads it: both allow for what
 * codecs do to it.
 */
export function clock(seconds: number, rate = 25, size = '64x36'): string[] {
  const grey = `geq=lum='20+8*floor(T)':cb=128:cr=128`;
  return ['-f', 'lavfi', '-i', `color=black:s=${size}:r=${rate}:d=${seconds},${grey}`];
}

/** Which second of `clock` each picture shows. */
export async function secondsShownBy(jpegs: readonly Uint8Array[]): Promise<number[]> {
  const reading = run(
    ffmpegInstaller.path,
    [
      ...['-v', 'error', '-f', 'image2pipe', '-c:v', 'mjpeg', '-i', 'pipe:0', '-vsync', '0'],
      ...['-vf', 'scale=2:2', '-pix_fmt', 'gray', '-f', 'rawvideo', 'pipe:1'],
    ],
    { encoding: 'buffer' },
  );
  reading.child.stdin?.end(Buffer.concat(jpegs));
  const { stdout } = await reading;
  // Grey in pictures has all of the range, in films 219 of it.
  return jpegs.map((_, index) => {
    const grey = 16 + ((stdout[index * 4] ?? 0) * 219) / 255;
    return Math.round((grey - 20) / 8);
  });
}

/** Width and height as the picture says (ITU-T T.81, B.2.2). */
export function sizeOfJpeg(jpeg: Uint8Array): [number, number] {
  const bytes = Buffer.from(jpeg);
  for (let at = 2; at < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    if ((bytes[at + 1] ?? 0) !== 0xc0) continue;
    return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
  }
  return [0, 0];
}

/** A box of ISO media. */
export function box(type: string, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(content.length + 8, 0);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, content]);
}

export const filmHead: Buffer = box('ftyp', Buffer.from('isom\0\0\0\x01isommp41', 'latin1'));
