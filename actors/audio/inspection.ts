// Recordings are looked at on a pool of their own, whose queue is theirs alone: nobody's tokens
// wait behind decoders. The programs are prepared when the first recording comes.
import { type AudioTools, prepareAudioTools } from '../../media/audio/tools.ts';
import type { Config } from '../../runtime/config.ts';
import { compiledFile } from '../../runtime/files.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Pool, TaskAnswer } from '../../runtime/work/pool.ts';
import type { Limits } from '../limits.ts';
import { audioFolders } from './folders.ts';

/** A file of media/tasks, without its ending. */
export const inspectionTask = 'inspect-audio';

export function createInspection(
  pool: Pool,
  config: Pick<Config, 'dataDir' | 'ffmpegPath' | 'ffprobePath'>,
  limits: Limits['audio'],
  log: Logger,
): (payload: unknown) => Promise<TaskAnswer<unknown>> {
  const { ffmpegPath, ffprobePath, dataDir } = config;
  let tools: Promise<AudioTools> | null = null;
  const prepared = () => {
    tools ??= prepareAudioTools({
      folder: audioFolders(dataDir).tools,
      ffmpegPath,
      ffprobePath,
      memoryBytesMax: limits.toolMemoryBytesMax,
      cpuSecondsMax: limits.toolCpuSecondsMax,
    });
    return tools;
  };
  return async (payload) => {
    try {
      const file = compiledFile(`media/tasks/${inspectionTask}.js`);
      return await pool.run(file, { ...(payload as object), tools: await prepared() });
    } catch (error) {
      tools = null;
      log.error({ err: error }, 'ffmpeg or ffprobe cannot be used: see TOLLGATE_FFMPEG');
      return { ok: false, refused: 'failed' };
    }
  };
}
