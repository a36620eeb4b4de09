// Real MP4s with a moving box and a tone, made once by ffmpeg and kept: in memory, and in a folder
// that later simulators find. Who asks at the same time shares one run.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { runFfmpeg } from '../sound/ffmpeg.ts';

export interface ClipSpec {
  seconds: number;
  width: number;
  height: number;
  sound: boolean;
}

/** Changes with what ffmpeg is asked: older files are not found any more. */
const version = 1;
const folder = join(tmpdir(), `tollgate-sim-clips-${version}-${userInfo().uid}`);
const keptMax = 64;
const kept = new Map<string, Promise<Buffer | null>>();
const framesPerSecond = 10;

/** Null: ffmpeg failed. */
export function clipOf(spec: ClipSpec): Promise<Buffer | null> {
  const { seconds, width, height, sound } = spec;
  const name = `box-${width}x${height}-${seconds}s${sound ? '' : '-silent'}`;
  return keptClip(name, () => [
    ...source(`color=c=0x203050:s=${width}x${height}:r=${framesPerSecond}:d=${seconds}`),
    ...source(`color=c=0xe0a020:s=160x160:r=${framesPerSecond}:d=${seconds}`),
    ...(sound ? source(`sine=frequency=440:sample_rate=24000:duration=${seconds}`) : []),
    '-filter_complex',
    "[0][1]overlay=x='mod(t*160,W-w)':y=(H-h)/2[v]",
    ...['-map', '[v]', ...(sound ? ['-map', '2:a'] : [])],
    ...encoding(seconds),
  ]);
}

export function source(graph: string): string[] {
  return ['-f', 'lavfi', '-i', graph];
}

/** How every clip is encoded; the index stands in front. */
export function encoding(seconds: number, flags = '+faststart'): string[] {
  return [
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '30', '-pix_fmt', 'yuv420p'],
    ...['-g', '10', '-c:a', 'aac', '-b:a', '24k', '-ac', '1', '-t', String(seconds)],
    ...(flags === '' ? [] : ['-movflags', flags]),
  ];
}

/** The file that ffmpeg makes with these options, under a name that says all of them. */
export function keptClip(name: string, options: () => string[]): Promise<Buffer | null> {
  const known = kept.get(name);
  if (known !== undefined) return known;
  const made = makeClip(name, options());
  kept.set(name, made);
  const [oldest] = kept.keys();
  if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest);
  // What failed is tried again by who asks next.
  void made.then((bytes) => {
    if (bytes === null) kept.delete(name);
  });
  return made;
}

async function makeClip(name: string, options: string[]): Promise<Buffer | null> {
  const path = join(folder, `${name}.mp4`);
  const found = await readWhole(path);
  if (found !== null) return found;
  const fresh = join(folder, `${name}.${randomUUID()}.part`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const done = await runFfmpeg(['-y', ...options, '-f', 'mp4', fresh], Buffer.alloc(0));
    if (done === null) return null;
    const bytes = await readWhole(fresh);
    await rename(fresh, path);
    return bytes;
  } catch {
    return null;
  } finally {
    await rm(fresh, { force: true });
  }
}

/** Null: it is not there, or no MP4. */
async function readWhole(path: string): Promise<Buffer | null> {
  try {
    const bytes = await readFile(path);
    return bytes.toString('latin1', 4, 8) === 'ftyp' ? bytes : null;
  } catch {
    return null;
  }
}
