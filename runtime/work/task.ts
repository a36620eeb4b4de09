// A task of an actor on the pool: bytes that were moved to this thread are moved on to the pool's,
// so that a long text passes by without being looked at.
import { MovedBytes } from '../shard/moved.ts';
import type { Pool, TaskAnswer, TaskOptions } from './pool.ts';

/** Runs the task of `file`; of `MovedBytes` it gets the bytes. Never rejects. */
export function runTask(
  pool: Pool,
  file: URL,
  payload: unknown,
  options: Pick<TaskOptions, 'tenant' | 'isSettling'> = {},
): Promise<TaskAnswer<unknown>> {
  if (!(payload instanceof MovedBytes)) return pool.run<unknown>(file, payload, options);
  const { bytes } = payload;
  return pool.run<unknown>(file, bytes, { ...options, transfer: [bytes.buffer] });
}
