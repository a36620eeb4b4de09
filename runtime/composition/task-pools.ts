// The pools of the main thread, and which task goes where. What users send is looked at in pools of
// their own, and passwords are hashed in one, so that nobody waits for somebody else's work.
import { createInspection, inspectionTask } from '../../actors/audio/inspection.ts';
import { createHashing, passwordTask } from '../../actors/identity/hashing.ts';
import type { Limits } from '../../actors/limits.ts';
import type { TasksProtocol } from '../../actors/tasks/protocol.ts';
import { createVideoInspection, readsVideo } from '../../actors/video/inspection.ts';
import type { Config } from '../config.ts';
import { compiledFile } from '../files.ts';
import type { Logger } from '../log.ts';
import { createPool, type TaskAnswer } from '../work/pool.ts';
import { runTask } from '../work/task.ts';

type TaskCall = Parameters<TasksProtocol['run']>[0];

export function createTaskPools(config: Config, limits: Limits, log: Logger) {
  const pool = createPool({
    threadsMax: limits.work.poolThreadsMax,
    queueLengthMax: limits.work.poolQueueLengthMax,
    reservedLength: limits.work.poolReservedLength,
    idleMs: limits.work.poolIdleMs,
    timeoutMs: limits.work.taskTimeoutMs,
    log,
  });
  const inspection = createPool({
    threadsMax: limits.audio.inspectThreadsMax,
    queueLengthMax: limits.audio.inspectQueueLengthMax,
    idleMs: limits.audio.inspectIdleMs,
    timeoutMs: limits.audio.inspectTimeoutMs,
    log,
  });
  const recordings = createInspection(inspection, config, limits.audio, log);
  const videos = createVideoInspection(config, limits.videoInspection, log);
  const hashing = createHashing(limits.passwords, log);
  return {
    run: ({ name, payload, accountId, isSettling }: TaskCall): Promise<TaskAnswer<unknown>> => {
      if (name === inspectionTask) return recordings.inspect(payload, accountId);
      if (name === passwordTask) return hashing.run(payload);
      if (readsVideo(name)) return videos.run(name, payload, accountId);
      const options = { tenant: accountId, isSettling: isSettling === true };
      return runTask(pool, compiledFile(`media/tasks/${name}.js`), payload, options);
    },
    /** Logs which programs look at recordings. */
    tellPrograms: () => void recordings.tellPrograms(),
    async stop(): Promise<void> {
      await Promise.all([pool.stop(), inspection.stop(), videos.stop(), hashing.stop()]);
    },
  };
}
