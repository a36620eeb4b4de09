// The one way from a shard to the Piscina pool: a shard's own pool would multiply threads.
// It does not wait for a task: the reply of each leaves when its thread is done.
import { strict as assert } from 'node:assert';
import type { ActorKind, PayloadOf } from '../../runtime/actor/contract.ts';
import type { TaskAnswer } from '../../runtime/work/pool.ts';
import type { TasksProtocol } from './protocol.ts';

export interface TasksDeps {
  run(task: PayloadOf<TasksProtocol, 'run'>): Promise<TaskAnswer<unknown>>;
}

export const tasksId = 'tasks';

export type TasksKind = ActorKind<TasksProtocol, TasksDeps>;

export function createTasksKind(deps: TasksDeps | null): TasksKind {
  return {
    name: 'tasks',
    parent: 'process',
    placement: 'main',
    supervision: { strategy: 'resume', crashesMax: 100, withinMs: 60_000 },
    mailboxLengthMax: 1_024,
    start() {
      assert(deps !== null, 'tasks run on the main thread');
      return deps;
    },
    behaviour: {
      // A batch of one at a time would queue tasks behind each other: the pool is the queue.
      batch: {
        lengthMax: 64,
        receive(state, batch) {
          for (const entry of batch) {
            void state.run(entry.payload).then((reply) => entry.reply(reply));
          }
        },
      },
    },
  };
}
