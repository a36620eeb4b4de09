// Files of video are looked at on pools of their own. A generated video, which is paid for, does
// not wait behind the sources of strangers. The programs are prepared for the first file.
import { join } from 'node:path';
import { type MediaTools, prepareTools } from '../../media/tools/tools.ts';
import type { VideoTools } from '../../media/video/video-tools.ts';
import type { Config } from '../../runtime/config.ts';
import { compiledFile } from '../../runtime/files.ts';
import type { Logger } from '../../runtime/log.ts';
import { createPool, type TaskAnswer } from '../../runtime/work/pool.ts';
import type { VideoInspectionLimits } from './inspection-limits.ts';

/** Files of media/tasks, without their ending. */
const inspectionTasks = ['inspect-video', 'extract-frames'] as const;
type InspectionTask = (typeof inspectionTasks)[number];

/** Whether a task is one of those that read files of video. */
export function readsVideo(name: string): name is InspectionTask {
  return (inspectionTasks as readonly string[]).includes(name);
}

export interface VideoInspection {
  /** Runs the task with what its file in media/tasks says, but for the programs. Never rejects. */
  run(name: InspectionTask, payload: unknown, accountId: string): Promise<TaskAnswer<unknown>>;
  /** Ends what runs and refuses what comes. */
  stop(): Promise<void>;
}

export function createVideoInspection(
  config: Pick<Config, 'dataDir' | 'ffmpegPath' | 'ffprobePath'>,
  limits: VideoInspectionLimits,
  log: Logger,
): VideoInspection {
  const open = (timeoutMs: number) => {
    const { threadsMax, queueLengthMax, idleMs } = limits;
    return createPool({ threadsMax, queueLengthMax, idleMs, timeoutMs, log });
  };
  const pools = {
    'inspect-video': open(limits.videoMs),
    'extract-frames': open(limits.sourceMs),
  } as const;
  const programMs = {
    'inspect-video': limits.videoProgramMs,
    'extract-frames': limits.sourceProgramMs,
  } as const;
  let tools: Promise<{ quick: MediaTools; patient: MediaTools }> | null = null;
  return {
    run: async (name, payload, accountId) => {
      try {
        tools ??= prepareVideoTools(config, limits);
        const bounds: VideoTools = { ...(await tools), timeoutMs: programMs[name] };
        const input = { ...(payload as object), tools: bounds };
        const file = compiledFile(`media/tasks/${name}.js`);
        return await pools[name].run(file, input, { tenant: accountId });
      } catch (error) {
        tools = null;
        log.error({ err: error }, 'ffmpeg or ffprobe cannot be used: see TOLLGATE_FFMPEG');
        return { ok: false, refused: 'failed' };
      }
    },
    stop: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.stop()));
    },
  };
}

/** Both programs twice, by the CPU time that they have. */
async function prepareVideoTools(
  { dataDir, ffmpegPath, ffprobePath }: Pick<Config, 'dataDir' | 'ffmpegPath' | 'ffprobePath'>,
  limits: VideoInspectionLimits,
): Promise<{ quick: MediaTools; patient: MediaTools }> {
  const prepare = async (name: string, cpuSecondsMax: number): Promise<MediaTools> => {
    const prepared = await prepareTools({
      folder: join(dataDir, 'video', 'tools', name),
      ffmpegPath,
      ffprobePath,
      memoryBytesMax: limits.toolMemoryBytesMax,
      cpuSecondsMax,
    });
    return { ffmpegPath: prepared.ffmpegPath, ffprobePath: prepared.ffprobePath };
  };
  // One after the other: a packaged program that is not executable is mended once.
  const quick = await prepare('quick', limits.quickCpuSecondsMax);
  return { quick, patient: await prepare('patient', limits.patientCpuSecondsMax) };
}
