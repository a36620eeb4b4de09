// Checks of structured output that are too heavy for a shard's own thread.
import type { OutputFormat } from '../../media/model/request.ts';
import type { SchemaFault } from '../../media/model/structured.ts';
import type { CheckFormatInput } from '../../media/tasks/check-format.ts';
import type { ActorRef, AskFailure } from '../../runtime/actor/contract.ts';
import { awakeMs } from '../../runtime/awake.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import type { TaskAnswer } from '../../runtime/work/pool.ts';
import type { TasksProtocol } from './protocol.ts';

const { poolPauseMs, poolPauseMsMax } = fixedLimits.work;

type Tasks = ActorRef<TasksProtocol>;
type Reply = TaskAnswer<unknown> | { ok: false; refused: AskFailure };

/** Whether the schema of a format is one. Null: no room for the account, or it took too long. */
export async function checkSchema(
  tasks: Tasks,
  accountId: string,
  format: OutputFormat,
  timeoutMs: number,
): Promise<true | SchemaFault | null> {
  const payload: CheckFormatInput = { format, text: null };
  const task = { name: 'check-format', payload, accountId };
  const answer = await tasks.ask('run', task, timeoutMs);
  return answer.ok && answer.value.ok ? (answer.value.value as true | SchemaFault) : null;
}

/**
 * Whether an answer has the format. Null: nobody could look in time. A full pool is asked again:
 * the answer is paid for, and requests that have not begun can wait.
 */
export async function checkAnswer(
  tasks: Tasks,
  accountId: string,
  format: OutputFormat,
  text: string,
  timeoutMs: number,
): Promise<boolean | null> {
  const payload: CheckFormatInput = { format, text };
  const task = { name: 'check-format', payload, accountId, isSettling: true } as const;
  const deadline = awakeMs() + timeoutMs;
  let pauseMs: number = poolPauseMs;
  for (;;) {
    const answer = await tasks.ask('run', task, Math.max(1, deadline - awakeMs()));
    const reply: Reply = answer.ok ? answer.value : { ok: false, refused: answer.reason };
    if (reply.ok) return reply.value === true;
    if (reply.refused !== 'overloaded' || awakeMs() + pauseMs >= deadline) return null;
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random() / 2)));
    pauseMs = Math.min(poolPauseMsMax, pauseMs * 2);
  }
}
