// Recordings for tests: tones and silence as WAV, and whatever else the packaged ffmpeg makes
// of them.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ffmpegInstaller from '@ffmpeg-installer/ffmpeg';
import { tonePcm } from '../../bench/sim/sound/tone.ts';
import { wavHeader } from '../../bench/sim/sound/wav.ts';

const run = promisify(execFile);
const rateHz = 16_000;

/** s16le mono at 16 kHz; `hertz` 0 is digital silence. */
export function wav(seconds: number, hertz = 440): Buffer<ArrayBuffer> {
  const samples = Math.round(seconds * rateHz);
  const header = wavHeader(rateHz, samples * 2);
  return Buffer.concat([header, tonePcm(hertz, samples, rateHz)]);
}

/** Runs ffmpeg: `source` before `-i`, the file's name decides its format. */
export async function record(
  name: string,
  source: readonly string[],
  output: readonly string[] = [],
): Promise<Buffer<ArrayBuffer>> {
  return await inFolder(async (folder) => {
    const path = join(folder, name);
    await run(ffmpegInstaller.path, ['-v', 'error', ...source, ...output, path]);
    return Buffer.from(await readFile(path)) as Buffer<ArrayBuffer>;
  });
}

/** A tone (or silence, 0) of so many seconds, made by ffmpeg itself. */
export function tone(
  name: string,
  seconds: number,
  output: readonly string[] = [],
  hertz = 440,
): Promise<Buffer<ArrayBuffer>> {
  const generator = hertz === 0 ? 'anullsrc=r=16000:cl=mono' : `sine=frequency=${hertz}:r=16000`;
  const source = ['-f', 'lavfi', '-i', generator, '-t', String(seconds)];
  return record(name, source, output);
}

/** A file on the disk, for tricks that refer to it. */
export async function withFile<T>(
  name: string,
  bytes: Uint8Array,
  work: (path: string) => Promise<T>,
): Promise<T> {
  return await inFolder(async (folder) => {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return await work(path);
  });
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-recording-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
