// Jobs on a real PostgreSQL: each is worked on until it is over, once at a time, by some process.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { parseDatabaseUrl } from '../../db/driver/sql.ts';
import { createJobQueue, type JobQueueOptions } from '../../runtime/work/job-queue.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';

const log = pino({ level: 'silent' });
let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const untilMs = 30_000;

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + untilMs;
  while (!holds()) {
    assert.ok(performance.now() < deadline, `not within ${untilMs} ms: ${what}`);
    await sleep(10);
  }
}

function queueOf(given: Pick<JobQueueOptions, 'name' | 'handler'> & Partial<JobQueueOptions>) {
  const connection = parseDatabaseUrl(database.url);
  return createJobQueue({
    database: connection,
    log,
    concurrency: 100,
    pendingMax: 1_000,
    ...given,
  });
}

test('each job is worked on once, however often it is added, also before the start', async () => {
  const seen: string[] = [];
  const queue = queueOf({ name: 'once', handler: async (id) => void seen.push(id) });
  const ids = Array.from({ length: 300 }, (_, index) => `job-${index}`);
  for (const id of [...ids, ...ids]) queue.add(id);
  queue.start();
  await until('all of them', () => seen.length >= ids.length);
  await sleep(200);
  assert.deepEqual([...seen].sort(), [...ids].sort());
  queue.add('job-0');
  await until('one that was over may come again', () => seen.length > ids.length);
  await queue.stop(1_000);
});

test('work that breaks is repeated', async () => {
  let tries = 0;
  const handler = async () => {
    tries += 1;
    if (tries < 3) throw new Error('not this time');
  };
  const queue = queueOf({ name: 'again', handler });
  queue.start();
  queue.add('stubborn');
  await until('the third time', () => tries === 3);
  await queue.stop(1_000);
});

test('what a process leaves at its stop is taken by another', async () => {
  const begun: string[] = [];
  const worker = (name: string) => async (_id: string, signal: AbortSignal) => {
    begun.push(name);
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('it stops')), { once: true });
    });
  };
  const first = queueOf({ name: 'handed', handler: worker('first') });
  first.start();
  first.add('long');
  await until('the first has it', () => begun.length === 1);
  const second = queueOf({ name: 'handed', handler: worker('second') });
  second.start();
  await first.stop(1_000);
  await until('the second has it', () => begun.includes('second'));
  await second.stop(1_000);
  assert.deepEqual(begun, ['first', 'second']);
});
