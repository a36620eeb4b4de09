// The programs that read recordings of strangers: found, made executable, and wrapped so that each
// of their processes has little memory and little time, whatever the recording makes it do.
import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface AudioTools {
  /** Shell scripts that set the bounds and then become the program. */
  ffmpegPath: string;
  ffprobePath: string;
}

export interface ToolOptions {
  /** A private folder, which is made. */
  folder: string;
  /** Programs of the system; null: those of the packages. */
  ffmpegPath: string | null;
  ffprobePath: string | null;
  memoryBytesMax: number;
  cpuSecondsMax: number;
}

/** Prepares both programs. Rejects when one is not there. */
export async function prepareAudioTools(options: ToolOptions): Promise<AudioTools> {
  const { folder } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [ffmpegPath, ffprobePath] = await Promise.all([
    options.ffmpegPath ?? packagedFfmpeg(),
    options.ffprobePath ?? packagedFfprobe(),
  ]);
  return {
    ffmpegPath: await wrap('ffmpeg', ffmpegPath, options),
    ffprobePath: await wrap('ffprobe', ffprobePath, options),
  };
}

/** Imported late: on a system without a packaged program the import itself fails. */
async function packagedFfmpeg(): Promise<string> {
  return (await import('@ffmpeg-installer/ffmpeg')).default.path;
}

async function packagedFfprobe(): Promise<string> {
  return (await import('@ffprobe-installer/ffprobe')).default.path;
}

async function wrap(name: string, program: string, options: ToolOptions): Promise<string> {
  const { folder, memoryBytesMax, cpuSecondsMax } = options;
  const executable = await executableOf(name, program, folder);
  const script = [
    '#!/bin/sh',
    // One at a time: some shells take no more, and ignore the whole line.
    `ulimit -t ${cpuSecondsMax} || exit 1`,
    'ulimit -c 0 2>/dev/null',
    // Not every system has this bound.
    `ulimit -v ${Math.floor(memoryBytesMax / 1_024)} 2>/dev/null`,
    `exec '${executable.replaceAll("'", "'\\''")}' "$@"`,
    '',
  ];
  const path = join(folder, `${name}.sh`);
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, script.join('\n'), { mode: 0o700 });
  await rename(partial, path);
  return path;
}

/** Where install scripts are blocked the packages' programs lack the bit, and may not be ours. */
async function executableOf(name: string, program: string, folder: string): Promise<string> {
  if (await isExecutable(program)) return program;
  try {
    await chmod(program, 0o755);
    return program;
  } catch {
    const copy = join(folder, name);
    const { size } = await stat(program);
    const copied = await stat(copy).catch(() => null);
    if (copied?.size !== size) {
      const partial = `${copy}.${process.pid}`;
      await copyFile(program, partial);
      await rename(partial, copy);
    }
    await chmod(copy, 0o700);
    return copy;
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
