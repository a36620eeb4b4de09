// Recordings are looked at on a pool of their own, whose queue is theirs alone: nobody's tokens
// wait behind decoders. The programs are prepared before the first recording, and never awaited by
// the start: asking them for their versions takes a while.
import type { MediaProgram } from '../../media/tools/programs.ts';
import { type PreparedTools, prepareTools } from '../../media/tools/tools.ts';
import type { Config } from '../../runtime/config.ts';
import { compiledFile } from '../../runtime/files.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Pool, TaskAnswer } from '../../runtime/work/pool.ts';
import type { Limits } from '../limits.ts';
import { audioFolders } from './folders.ts';

/** A file of media/tasks, without its ending. */
export const inspectionTask = 'inspect-audio';

export interface Inspection {
  /** Runs the task. */
  inspect(payload: unknown, accountId: string): Promise<TaskAnswer<unknown>>;
  /** Prepares the programs and logs which they are. Never rejects. */
  tellPrograms(): Promise<void>;
}

export function createInspection(
  pool: Pool,
  config: Pick<Config, 'mode' | 'dataDir' | 'ffmpegPath' | 'ffprobePath'>,
  limits: Limits['audio'],
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
): Inspection {
  const { ffmpegPath, ffprobePath, dataDir } = config;
  let tools: Promise<PreparedTools> | null = null;
  const prepared = () => {
    tools ??= prepareTools({
      folder: audioFolders(dataDir).tools,
      ffmpegPath,
      ffprobePath,
      memoryBytesMax: limits.toolMemoryBytesMax,
      cpuSecondsMax: limits.toolCpuSecondsMax,
    });
    return tools;
  };
  const failed = (error: unknown) => {
    tools = null;
    log.error({ err: error }, 'ffmpeg or ffprobe cannot be used: see TOLLGATE_FFMPEG');
  };
  return {
    inspect: async (payload, accountId) => {
      try {
        const file = compiledFile(`media/tasks/${inspectionTask}.js`);
        const { ffmpegPath, ffprobePath } = await prepared();
        const input = { ...(payload as object), tools: { ffmpegPath, ffprobePath } };
        return await pool.run(file, input, { tenant: accountId });
      } catch (error) {
        failed(error);
        return { ok: false, refused: 'failed' };
      }
    },
    tellPrograms: async () => {
      try {
        const { programs } = await prepared();
        const used = Object.fromEntries(programs.map((each) => [each.name, shown(each)]));
        log.info(used, 'recordings are read by');
        const isOld = programs.some(({ origin }) => origin === 'package');
        if (isOld && config.mode === 'production') log.warn({}, advice);
      } catch (error) {
        failed(error);
      }
    },
  };
}

const advice =
  'recordings of strangers are decoded by an old program out of a package: install ffmpeg, ' +
  'which the system keeps up to date';

function shown({ path, origin, version }: MediaProgram): Record<string, string | null> {
  return { version: version?.text ?? null, origin, path };
}
