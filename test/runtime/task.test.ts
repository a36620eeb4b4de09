// A task gets bytes that are on their way without a copy, and other payloads as they are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serialize } from 'node:v8';
import { pino } from 'pino';
import { MovedBytes } from '../../runtime/shard/moved.ts';
import { createPool } from '../../runtime/work/pool.ts';
import { runTask } from '../../runtime/work/task.ts';

test('moved bytes are moved on, plain data is cloned, and both are counted alike', async () => {
  const pool = createPool({
    threadsMax: 1,
    queueLengthMax: 4,
    idleMs: 1_000,
    timeoutMs: 30_000,
    log: pino({ level: 'silent' }),
  });
  const file = new URL('../../media/tasks/count-tokens.js', import.meta.url);
  const texts = ['Wärme — 漢字 🧭 and more words. '.repeat(4_000), 'hello world'];
  try {
    const payload = new MovedBytes(serialize(texts));
    const answering = runTask(pool, file, payload);
    const moved = await answering;
    assert.equal(payload.bytes.length, 0, 'they are not copied');
    const cloned = await runTask(pool, file, texts);
    assert.ok(moved.ok && cloned.ok);
    assert.deepEqual(moved.value, cloned.value);
    assert.equal((moved.value as number[])[1], 2);
  } finally {
    await pool.stop();
  }
});
