// Recordings for tests: tones and silence as WAV, and whatever else the packaged ffmpeg makes
// of them.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ffmpegInstaller from '@ffmpeg-installer/ffmpeg';

const run = promisify(execFile);
const rateHz = 16_000;

/** s16le mono at 16 kHz; `hertz` 0 is digital silence. */
export function wav(seconds: number, hertz = 440): Buffer<ArrayBuffer> {
  const samples = Math.round(seconds * rateHz);
  const bytes = Buffer.alloc(44 + samples * 2);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rateHz, 24);
  bytes.writeUInt32LE(rateHz * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(samples * 2, 40);
  if (hertz === 0) return bytes;
  for (let index = 0; index < samples; index += 1) {
    const value = Math.round(12_000 * Math.sin((2 * Math.PI * hertz * index) / rateHz));
    bytes.writeInt16LE(value, 44 + index * 2);
  }
  return bytes;
}

/** Runs ffmpeg: `source` before `-i`, the file's name decides its format. */
export async function record(
  name: string,
  source: readonly string[],
  output: readonly string[] = [],
): Promise<Buffer<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-recording-'));
  try {
    const path = join(folder, name);
    await run(ffmpegInstaller.path, ['-v', 'error', ...source, ...output, path]);
    return Buffer.from(await readFile(path)) as Buffer<ArrayBuffer>;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-recording-'));
  try {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return await work(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
