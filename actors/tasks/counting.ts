// Token counts by the tokenizer, on the pool. Long texts travel as bytes that nobody on the way
// has to look at.
import { serialize } from 'node:v8';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { MovedBytes } from '../../runtime/shard/moved.ts';
import { ownTurn } from '../../runtime/turns.ts';
import type { TasksProtocol } from './protocol.ts';

/** The tokens of each text; null: the pool has no room for the account, or took too long. */
export async function countTexts(
  tasks: ActorRef<TasksProtocol>,
  accountId: string,
  texts: readonly string[],
  timeoutMs: number,
): Promise<number[] | null> {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  let payload: readonly string[] | MovedBytes = texts;
  if (characters >= fixedLimits.body.longBytesMin) {
    await ownTurn();
    payload = new MovedBytes(serialize(texts));
  }
  const task = { name: 'count-tokens', payload, accountId };
  const answer = await tasks.ask('run', task, timeoutMs);
  return answer.ok && answer.value.ok ? (answer.value.value as number[]) : null;
}
