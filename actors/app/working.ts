// Apps as the main thread has them: the board that shards are launched with, and the rounds. It
// looks for changes of others, and removes what is old.
import { readBoard, readBoardRevision } from '../../db/app/board.ts';
import type { Sql } from '../../db/driver/sql.ts';
import type { Logger } from '../../runtime/log.ts';
import { createSealer } from '../../runtime/seal.ts';
import type { Bus } from '../../runtime/work/bus.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import { repeat } from '../../runtime/work/repeat.ts';
import { boardTopic, createBoardView, followBoard } from './board.ts';
import type { AppLimits } from './limits.ts';
import { sealAppsAnew, sweepApps } from './upkeep.ts';

interface WorkingOptions {
  sql: Sql;
  bus: Bus;
  masterKey: string;
  previousSecret: string | null;
  limits: AppLimits;
  log: Logger;
}

export function createAppWorking(options: WorkingOptions) {
  const { sql, bus, masterKey, previousSecret, limits, log } = options;
  const view = createBoardView();
  let endFollowing = () => {};
  bus.subscribe(boardTopic, (board) => view.set(board as ReturnType<typeof view.current>));
  const follow = () =>
    followBoard({
      view,
      bus,
      readRevision: () => readBoardRevision(sql),
      read: () => readBoard(sql),
      log,
    });
  return {
    /** Reads the board that shards are launched with. */
    async prepare(): Promise<void> {
      view.set(await readBoard(sql));
    },
    board: view.current,
    schedule(queue: Pick<MaintenanceQueue, 'schedule'>): void {
      queue.schedule('app-retention', limits.retention.everyMs, async (signal) => {
        const swept = await sweepApps(sql, limits.retention, signal);
        log.debug({ ...swept }, 'swept what apps told');
        if (previousSecret === null) return;
        const sealers = { now: createSealer(masterKey), before: createSealer(previousSecret) };
        const sealed = await sealAppsAnew(sql, sealers, limits.retention, signal);
        if (sealed > 0) log.info({ sealed }, 'what apps told has the new master key');
      });
      endFollowing = repeat('app-board', limits.board.lookMs, follow, log);
    },
    async stop(): Promise<void> {
      endFollowing();
    },
  };
}
