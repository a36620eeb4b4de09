// A process with few files, as the pool's test starts it: what becomes of a task when there is none
// left for its thread, and of the next one.
import { closeSync, openSync } from 'node:fs';
import pino from 'pino';
import { createPool, loadThreads } from '../../runtime/work/pool.ts';
import type { TaskInput } from './pool-task.ts';

const bounds = { threadsMax: 1, queueLengthMax: 4, idleMs: 1_000, timeoutMs: 60_000 };
const pool = createPool({ ...bounds, log: pino({ level: 'silent' }) });
const input: TaskInput = { act: 'add', numbers: [2, 3] };
const file = new URL('./pool-task.js', import.meta.url);
await loadThreads();
const files: number[] = [];
for (let isLeft = true; isLeft; ) {
  try {
    files.push(openSync('/dev/null', 'r'));
  } catch {
    isLeft = false;
  }
}
const short = await Promise.all([pool.run(file, input), pool.run(file, input)]);
for (const each of files) closeSync(each);
process.stdout.write(JSON.stringify([...short, await pool.run(file, input)]));
await pool.stop();
