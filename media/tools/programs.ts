// Which ffmpeg and ffprobe read media: the ones set by hand, else the system's where they are
// newer than the packaged ones. Old decoders are what a hostile file hopes for.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Config, ConfigError } from '../../runtime/config.ts';

export type ProgramName = 'ffmpeg' | 'ffprobe';

export interface MediaProgram {
  name: ProgramName;
  /** An absolute path. */
  path: string;
  origin: 'configured' | 'system' | 'package';
  /** What it says of itself; null: nothing that could be understood. */
  version: ProgramVersion | null;
}

export interface ProgramVersion {
  /** As the builder wrote it: a release, or a snapshot that cannot be compared. */
  text: string;
  /** The year of its fixes: releases of old branches have the one in which they were made. */
  year: number;
  /** The version of libavcodec grows with each change, also between two releases. */
  codec: readonly [number, number, number];
}

const timeoutMs = 5_000;
const reportBytesMax = 65_536;
const textMax = 60;
const run = promisify(execFile);

/** Reads what `ffmpeg -version` and `ffprobe -version` print; null: it is not that program. */
export function versionOf(name: ProgramName, report: string): ProgramVersion | null {
  const [, text] = new RegExp(`^${name} version (\\S+)`).exec(report) ?? [];
  const [, year] = /^[^\n]*Copyright \(c\) (?:\d{4}-)?(\d{4}) /.exec(report) ?? [];
  const codec = /^libavcodec\s+(\d+)\.\s*(\d+)\.\s*(\d+)/m.exec(report)?.slice(1).map(Number);
  if (text === undefined || year === undefined || codec === undefined) return null;
  const [major = 0, minor = 0, micro = 0] = codec;
  return { text: text.slice(0, textMax), year: Number(year), codec: [major, minor, micro] };
}

/** Whether the first is the newer one: by the year of its fixes, then by its codecs. */
export function isNewer(one: ProgramVersion, other: ProgramVersion): boolean {
  const [mine, theirs] = [one, other].map(({ year, codec }) => [year, ...codec]);
  for (const [index, part] of (mine ?? []).entries()) {
    const against = theirs?.[index] ?? 0;
    if (part !== against) return part > against;
  }
  return false;
}

/**
 * Asks a program for its version, by its path or by a command that passes arguments on to it. Null
 * where it cannot be run, takes longer than 5 s, or is another program.
 */
export async function askVersion(
  name: ProgramName,
  [program = name, ...before]: readonly string[],
): Promise<ProgramVersion | null> {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: reportBytesMax } as const;
  const report = await run(program, [...before, '-version'], options).catch(() => null);
  return report === null ? null : versionOf(name, report.stdout);
}

/** The first on the PATH of this process, as a shell finds it; null: there is none. */
export async function findOnPath(name: ProgramName): Promise<string | null> {
  const options = { timeout: timeoutMs, maxBuffer: reportBytesMax };
  const found = await run('/bin/sh', ['-c', `command -v ${name}`], options).catch(() => null);
  const path = found?.stdout.trim() ?? '';
  // A relative one depends on the folder that the server was started in.
  return path.startsWith('/') ? path : null;
}

/** Checks that programs set by hand run. @throws ConfigError with one line */
export async function assertProgramsUsable({
  ffmpegPath,
  ffprobePath,
}: Pick<Config, 'ffmpegPath' | 'ffprobePath'>): Promise<void> {
  const configured = [
    ['TOLLGATE_FFMPEG', 'ffmpeg', ffmpegPath],
    ['TOLLGATE_FFPROBE', 'ffprobe', ffprobePath],
  ] as const;
  const versions = configured.map(async ([, name, path]) =>
    path === null ? null : await askVersion(name, [path]),
  );
  for (const [index, [variable, name, path]] of configured.entries()) {
    if (path === null || (await versions[index]) !== null) continue;
    const fault = `${path} -version does not answer as ${name} does`;
    throw new ConfigError(`${variable} names no ${name} that runs: ${fault}`);
  }
}
