// The thread pool with real threads: deadlines, bounds, and tasks that misbehave.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { getPriority, platform } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pino from 'pino';
import { createPool } from '../../runtime/work/pool.ts';
import { startStopwatch } from '../harness/stopwatch.ts';
import type { TaskInput } from './pool-task.ts';

const file = new URL('./pool-task.js', import.meta.url);
const log = pino({ level: 'silent' });

function openPool(threadsMax: number, queueLengthMax: number) {
  const pool = createPool({ threadsMax, queueLengthMax, idleMs: 1_000, timeoutMs: 60_000, log });
  const run = (input: TaskInput, options = {}) => pool.run<number>(file, input, options);
  return { pool, run };
}

test('tasks answer, and a task that throws does not hurt the next one', async () => {
  const { pool, run } = openPool(2, 16);
  assert.deepEqual(await run({ act: 'add', numbers: [1, 2, 3] }), { ok: true, value: 6 });
  assert.deepEqual(await run({ act: 'throw' }), { ok: false, refused: 'failed' });
  const many = await Promise.all(
    [1, 2, 3, 4].map((value) => run({ act: 'add', numbers: [value] })),
  );
  assert.deepEqual(
    many.map((answer) => answer.ok && answer.value),
    [1, 2, 3, 4],
  );
  await pool.stop();
});

test('a thread that there are no files for fails its tasks and nothing else', async () => {
  const script = fileURLToPath(new URL('./pool-short.js', import.meta.url));
  const command = 'ulimit -n 64; exec "$0" "$1"';
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, script]);
  const failed = { ok: false, refused: 'failed' };
  assert.deepEqual(JSON.parse(stdout), [failed, failed, { ok: true, value: 5 }]);
});

test('a task that spins past its deadline is ended, and its thread replaced', async () => {
  const { pool, run } = openPool(1, 16);
  await run({ act: 'add' });
  const watch = startStopwatch();
  const spun = await run({ act: 'spin', ms: 60_000 }, { timeoutMs: 200 });
  assert.deepEqual(spun, { ok: false, refused: 'timeout' });
  watch.assertWithin(1_500, 'ended');
  assert.deepEqual(await run({ act: 'add', numbers: [5] }), { ok: true, value: 5 });
  await pool.stop();
});

test('the caller may give up, also on a task that still waits for a thread', async () => {
  const { pool, run } = openPool(1, 16);
  const first = run({ act: 'sleep', ms: 300, numbers: [1] });
  const giveUp = new AbortController();
  const second = run({ act: 'add' }, { signal: giveUp.signal });
  giveUp.abort();
  assert.deepEqual(await second, { ok: false, refused: 'aborted' });
  assert.deepEqual(await first, { ok: true, value: 1 });
  await pool.stop();
});

test('what does not fit in the queue is refused at once', async () => {
  const { pool, run } = openPool(1, 2);
  let done = 0;
  const running = [1, 2, 3].map(() =>
    run({ act: 'sleep', ms: 100 }).finally(() => {
      done += 1;
    }),
  );
  assert.equal(pool.length, 3);
  assert.deepEqual(await run({ act: 'add' }), { ok: false, refused: 'overloaded' });
  assert.equal(done, 0, 'it waited for no other task');
  for (const answer of await Promise.all(running)) assert.equal(answer.ok, true);
  assert.equal(pool.length, 0);
  await pool.stop();
});

test('a part of the queue is kept for tasks that money is held for', async () => {
  const bounds = { threadsMax: 1, queueLengthMax: 2, reservedLength: 1 };
  const pool = createPool({ ...bounds, idleMs: 1_000, timeoutMs: 60_000, log });
  const run = (options = {}) => pool.run<number>(file, { act: 'sleep', ms: 100 }, options);
  const running = [run(), run()];
  const overloaded = { ok: false, refused: 'overloaded' };
  assert.deepEqual(await run(), overloaded);
  running.push(run({ isSettling: true }));
  assert.deepEqual(await run({ isSettling: true }), overloaded);
  for (const answer of await Promise.all(running)) assert.equal(answer.ok, true);
  await pool.stop();
});

test('who has nothing running does not wait for another tenant’s long task', async () => {
  const { pool, run } = openPool(1, 4);
  await run({ act: 'add' });
  const giveUp = new AbortController();
  const options = { tenant: 'slow', signal: giveUp.signal };
  const long = [1, 2].map(() => run({ act: 'sleep', ms: 60_000 }, options));
  assert.deepEqual(await run({ act: 'add', numbers: [3] }, { tenant: 'quick' }), {
    ok: true,
    value: 3,
  });
  giveUp.abort();
  for (const answer of await Promise.all(long)) {
    assert.deepEqual(answer, { ok: false, refused: 'aborted' });
  }
  await pool.stop();
});

test('one tenant has half of the room, the rest is for others', async () => {
  const { pool, run } = openPool(1, 7);
  const send = (tenant: string) => run({ act: 'sleep', ms: 20 }, { tenant });
  const many = Array.from({ length: 6 }, () => send('many'));
  const other = Array.from({ length: 4 }, () => send('other'));
  assert.equal(pool.length, 8);
  assert.deepEqual(await send('third'), { ok: false, refused: 'overloaded' });
  const refused = (await Promise.all(many)).filter(({ ok }) => !ok);
  assert.deepEqual(refused, [
    { ok: false, refused: 'overloaded' },
    { ok: false, refused: 'overloaded' },
  ]);
  for (const answer of await Promise.all(other)) assert.equal(answer.ok, true);
  assert.equal((await send('many')).ok, true, 'its share is free again');
  await pool.stop();
});

test('a stop refuses what waits for its turn', async () => {
  const { pool, run } = openPool(1, 4);
  const sent = ['a', 'a', 'b', 'c'].map((tenant) => run({ act: 'sleep', ms: 60_000 }, { tenant }));
  await new Promise((resolve) => setTimeout(resolve, 150));
  await pool.stop();
  const aborted = { ok: false, refused: 'aborted' };
  assert.deepEqual(await Promise.all(sent), [aborted, aborted, aborted, aborted]);
});

test('one that is late while it waits for its turn is told so, and the others go on', async () => {
  const { pool, run } = openPool(1, 4);
  await run({ act: 'add' });
  const first = run({ act: 'sleep', ms: 600, numbers: [1] }, { tenant: 'a' });
  const late = run({ act: 'add' }, { tenant: 'a', timeoutMs: 50 });
  const third = run({ act: 'add', numbers: [2] }, { tenant: 'a' });
  assert.deepEqual(await late, { ok: false, refused: 'timeout' });
  assert.deepEqual(await first, { ok: true, value: 1 });
  assert.deepEqual(await third, { ok: true, value: 2 });
  await pool.stop();
});

test('a pool that bounds the wait refuses late ones, and finishes what has begun', async () => {
  const bounds = { threadsMax: 1, queueLengthMax: 4, waitMs: 50 };
  const pool = createPool({ ...bounds, idleMs: 1_000, timeoutMs: 60_000, log });
  const run = (input: TaskInput, options = {}) => pool.run<number>(file, input, options);
  const long = run({ act: 'sleep', ms: 300, numbers: [1] });
  const giveUp = new AbortController();
  const [late, given, hasty] = [{}, { signal: giveUp.signal }, { timeoutMs: 10 }].map((options) =>
    run({ act: 'add' }, options),
  );
  giveUp.abort();
  assert.deepEqual(await given, { ok: false, refused: 'aborted' });
  assert.deepEqual(await hasty, { ok: false, refused: 'timeout' });
  assert.deepEqual(await late, { ok: false, refused: 'overloaded' });
  assert.equal(pool.length, 1, 'the one that runs');
  assert.deepEqual(await long, { ok: true, value: 1 });
  await pool.stop();
});

test('a task that eats its heap ends its thread, not the process', async () => {
  const { pool, run } = openPool(1, 4);
  const answer = await run({ act: 'eat' }, { timeoutMs: 20_000 });
  assert.deepEqual(answer, { ok: false, refused: 'failed' });
  assert.deepEqual(await run({ act: 'add', numbers: [7] }), { ok: true, value: 7 });
  await pool.stop();
});

test('stop ends what runs and refuses what comes', async () => {
  const { pool, run } = openPool(1, 4);
  const running = run({ act: 'sleep', ms: 60_000 });
  await new Promise((resolve) => setTimeout(resolve, 150));
  await pool.stop();
  assert.deepEqual(await running, { ok: false, refused: 'aborted' });
  assert.deepEqual(await run({ act: 'add' }), { ok: false, refused: 'overloaded' });
});

test('threads of tasks stand behind the others, which stay as they are', {
  skip: platform() !== 'linux',
}, async () => {
  const before = getPriority(0);
  const { pool, run } = openPool(1, 1);
  const answer = await run({ act: 'priority' });
  assert.ok(answer.ok && answer.value > before, 'the thread has a lower priority');
  assert.equal(getPriority(0), before);
  await pool.stop();
});
