// CPU work off the shards: the main thread's pool runs it. Payload and result are plain data.
import type { TaskAnswer } from '../../runtime/work/pool.ts';

export type TasksProtocol = {
  /**
   * `name` is a file of media/tasks, without its ending. Accounts take turns. `isSettling`: money
   * is held for it, so that it may have the room that is kept for such.
   */
  run: (task: {
    name: string;
    payload: unknown;
    accountId: string;
    isSettling?: true;
  }) => TaskAnswer<unknown>;
};
