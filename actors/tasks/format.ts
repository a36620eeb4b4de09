// Checks of structured output that are too heavy for a shard's own thread.
import type { OutputFormat } from '../../media/model/request.ts';
import type { CheckFormatInput } from '../../media/tasks/check-format.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { TasksProtocol } from './protocol.ts';

/**
 * Whether `text` satisfies the format; of a null text, whether the schema is one. Null: the pool
 * has no room or took too long.
 */
export async function checkFormat(
  tasks: ActorRef<TasksProtocol>,
  format: OutputFormat,
  text: string | null,
  timeoutMs: number,
): Promise<boolean | null> {
  const payload: CheckFormatInput = { format, text };
  const answer = await tasks.ask('run', { name: 'check-format', payload }, timeoutMs);
  return answer.ok && answer.value.ok ? answer.value.value === true : null;
}
