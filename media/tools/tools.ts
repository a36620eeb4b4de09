// The programs that read files of strangers are found, made executable and wrapped. Each of their
// processes has little memory and little time, whatever the file makes it do.
import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  askVersion,
  findOnPath,
  isNewer,
  type MediaProgram,
  type ProgramName,
} from './programs.ts';

/** Shell scripts that set the bounds and then become the program. */
export interface MediaTools {
  ffmpegPath: string;
  ffprobePath: string;
}

export interface PreparedTools extends MediaTools {
  /** What the scripts become. */
  programs: readonly MediaProgram[];
}

export interface ToolOptions {
  /** A private folder, which is made. */
  folder: string;
  /** Programs set by hand; null: the newer of the system's and the package's. */
  ffmpegPath: string | null;
  ffprobePath: string | null;
  memoryBytesMax: number;
  cpuSecondsMax: number;
}

/** Prepares both programs. Rejects when one is not there. */
export async function prepareTools(options: ToolOptions): Promise<PreparedTools> {
  const { folder } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [ffmpeg, ffprobe] = await Promise.all([
    choose('ffmpeg', options.ffmpegPath, options),
    choose('ffprobe', options.ffprobePath, options),
  ]);
  return {
    ffmpegPath: await wrap(ffmpeg, options),
    ffprobePath: await wrap(ffprobe, options),
    programs: [ffmpeg, ffprobe],
  };
}

/** Each is asked within its bounds: one that cannot run in them is none. */
async function choose(
  name: ProgramName,
  configured: string | null,
  options: ToolOptions,
): Promise<MediaProgram> {
  const ask = (path: string) =>
    askVersion(name, ['/bin/sh', '-c', boundedScript(path, options), name]);
  if (configured !== null) {
    const path = await executableOf(name, configured, options.folder);
    return { name, path, origin: 'configured', version: await ask(path) };
  }
  const [system, packaged] = await Promise.all([
    findOnPath(name).then(async (path) => {
      const version = path === null ? null : await ask(path);
      return path === null || version === null ? null : { path, version };
    }),
    packagedProgram(name, options.folder).then(
      async (path) => ({ path, version: await ask(path) }),
      // On a system without a packaged program.
      (error: unknown) => ({ error }),
    ),
  ]);
  const isPackaged = 'path' in packaged;
  if (system !== null) {
    const known = isPackaged ? packaged.version : null;
    if (known === null || isNewer(system.version, known)) {
      return { name, origin: 'system', ...system };
    }
  }
  if (!isPackaged) throw packaged.error;
  return { name, origin: 'package', ...packaged };
}

/** Imported late: on a system without a packaged program the import itself fails. */
async function packagedProgram(name: ProgramName, folder: string): Promise<string> {
  const found =
    name === 'ffmpeg'
      ? await import('@ffmpeg-installer/ffmpeg')
      : await import('@ffprobe-installer/ffprobe');
  return await executableOf(name, found.default.path, folder);
}

/** Runs with the arguments of the program. */
function boundedScript(path: string, { memoryBytesMax, cpuSecondsMax }: ToolOptions): string {
  return [
    // One at a time: some shells take no more, and ignore the whole line.
    `ulimit -t ${cpuSecondsMax} || exit 1`,
    'ulimit -c 0 2>/dev/null',
    // Not every system has this bound.
    `ulimit -v ${Math.floor(memoryBytesMax / 1_024)} 2>/dev/null`,
    // Each thread of a program with many inputs would reserve 64 MiB of that for its own use.
    'export MALLOC_ARENA_MAX=2',
    `exec '${path.replaceAll("'", "'\\''")}' "$@"`,
    '',
  ].join('\n');
}

async function wrap({ name, path: program }: MediaProgram, options: ToolOptions): Promise<string> {
  const path = join(options.folder, `${name}.sh`);
  const partial = `${path}.${process.pid}`;
  const script = `#!/bin/sh\n${boundedScript(program, options)}`;
  await writeFile(partial, script, { mode: 0o700 });
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
