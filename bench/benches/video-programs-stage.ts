// A file of video on the disk, and a process that runs programs on it (`load/video-programs.ts`).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Asked } from '../load/asked.ts';
import type { ProgramsJob } from '../load/video-programs-job.ts';

const PREPARE_MS = 20_000;

export interface ProgramsStage {
  path: string;
  programs: Asked<ProgramsJob>;
}

/** Ends the process and removes the file whatever happens. */
export async function withPrograms<T>(
  clip: Buffer,
  work: (stage: ProgramsStage) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-video-'));
  const programs = new Asked<ProgramsJob>('video-programs.js');
  try {
    const path = join(folder, 'clip.mp4');
    await writeFile(path, clip);
    await programs.ask({ kind: 'prepare', folder }, PREPARE_MS);
    return await work({ path, programs });
  } finally {
    programs.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
