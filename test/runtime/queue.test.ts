// Repeated maintenance on a real embedded PostgreSQL, also while that is killed and comes back.
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { parseDatabaseUrl } from '../../db/driver/sql.ts';
import { type Database, startDatabase } from '../../runtime/embedded/database.ts';
import { createQueue } from '../../runtime/work/queue.ts';
import { openDatabaseProxy } from '../harness/proxy.ts';
import { testSeed } from '../harness/seed.ts';
import { cpuMsOf, startStopwatch } from '../harness/stopwatch.ts';

// slow: It waits through outages of a database that last for seconds.

const log = pino({ level: 'silent' });
let folder = '';
let database: Database;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-queue-'));
  await chmod(folder, 0o711);
  database = await startDatabase({ dataDir: join(folder, 'data'), log });
});

after(async () => {
  await database.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Four openings that fail late, and the pauses between them, take 20 s by themselves. */
const UNTIL_MS = 45_000;

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + UNTIL_MS;
  while (!holds()) {
    assert.ok(performance.now() < deadline, `not within ${UNTIL_MS} ms: ${what}`);
    await sleep(20);
  }
}

test('rounds come again and again, a failing one too, and none after the stop', async () => {
  const queue = createQueue({ database: parseDatabaseUrl(database.url), log, name: 'plain' });
  let good = 0;
  let bad = 0;
  queue.schedule('good', 200, async () => {
    good += 1;
  });
  queue.schedule('bad', 200, async () => {
    bad += 1;
    throw new Error('this round fails');
  });
  assert.throws(() => queue.schedule('good', 1_000, async () => {}), /named twice/);
  queue.start();
  await until('three rounds of each', () => good >= 3 && bad >= 3);
  await queue.stop(1_000);
  const seen = good;
  await sleep(500);
  assert.equal(good, seen);
});

test('two processes share the rounds instead of doubling them', async () => {
  let rounds = 0;
  const queues = [1, 2].map(() =>
    createQueue({ database: parseDatabaseUrl(database.url), log, name: 'shared' }),
  );
  for (const queue of queues) {
    queue.schedule('once', 400, async () => {
      rounds += 1;
    });
    queue.start();
  }
  await until('the first round', () => rounds > 0);
  const before = rounds;
  const begun = performance.now();
  await until('eight rounds more', () => rounds >= before + 8);
  const tookMs = performance.now() - begun;
  // Eight times 400 ms; half of that if they were doubled.
  assert.ok(tookMs > 2_200, `eight rounds in ${tookMs} ms`);
  await Promise.all(queues.map((queue) => queue.stop(1_000)));
});

/** A queue that has begun its rounds; how many there were. */
async function startTicking(t: TestContext, name: string, url: string): Promise<() => number> {
  const queue = createQueue({ database: parseDatabaseUrl(url), log, name });
  let rounds = 0;
  queue.schedule('tick', 200, async () => {
    rounds += 1;
  });
  queue.start();
  t.after(() => queue.stop(1_000));
  await until('a first round', () => rounds > 0);
  return () => rounds;
}

test('a clock that is set back stops no rounds, before a start or after it', async (t) => {
  const now = Date.now;
  t.after(() => {
    Date.now = now;
  });
  const lookMsOf = { early: 3_600_000, running: 100 };
  for (const [name, lookMs] of Object.entries(lookMsOf)) {
    const given = { database: parseDatabaseUrl(database.url), log, name: `clock-${name}`, lookMs };
    let rounds = 0;
    const open = () => {
      const queue = createQueue(given);
      queue.schedule('tick', 200, async () => {
        rounds += 1;
      });
      queue.start();
      return queue;
    };
    Date.now = () => now() + 86_400_000;
    let queue = open();
    await until('a first round', () => rounds > 0);
    if (name === 'early') await queue.stop(1_000);
    Date.now = now;
    // One that was begun may still end.
    await sleep(300);
    const before = rounds;
    if (name === 'early') queue = open();
    await until('rounds go on', () => rounds >= before + 3);
    await queue.stop(1_000);
  }
});

test('a kill of the database is survived: rounds go on by themselves', async (t) => {
  const rounds = await startTicking(t, 'survivor', database.url);
  const text = await readFile(join(folder, 'data', 'pg', 'postmaster.pid'), 'utf8');
  process.kill(Number(text.split('\n')[0]), 'SIGKILL');
  await sleep(300);
  const before = rounds();
  await until('rounds after the restart', () => rounds() >= before + 3);
});

test('a stop cuts an endless round, and a stop before any connection is quick', async () => {
  const queue = createQueue({ database: parseDatabaseUrl(database.url), log, name: 'stuck' });
  let cut = false;
  let begun = false;
  queue.schedule('endless', 200, async (signal) => {
    begun = true;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    cut = true;
  });
  queue.start();
  await until('the round begins', () => begun);
  const watch = startStopwatch();
  await queue.stop(300);
  watch.assertWithin(3_000, 'a stop that cuts');
  assert.ok(cut);
  const nowhere = createQueue({
    database: parseDatabaseUrl('postgres://a@localhost/b?host=%2Fnowhere'),
    log,
  });
  nowhere.start();
  await sleep(100);
  const again = startStopwatch();
  await nowhere.stop(300);
  again.assertWithin(2_000, 'a stop without a connection');
});

test('an outage costs no CPU, and a queue started in it begins after it', async (t) => {
  const dataDir = join(folder, 'away');
  const own = await startDatabase({ dataDir, log });
  const queues = ['early', 'late'].map((name) =>
    createQueue({ database: parseDatabaseUrl(own.url), log, name }),
  );
  const rounds = [0, 0];
  queues.forEach((queue, index) => {
    queue.schedule('tick', 100, async () => {
      rounds[index] = (rounds[index] ?? 0) + 1;
    });
    t.after(() => queue.stop(500));
  });
  queues[0]?.start();
  await until('a first round', () => (rounds[0] ?? 0) > 0);
  await own.stop();
  queues[1]?.start();
  const cpuMs = await cpuMsOf(() => sleep(1_500));
  assert.ok(cpuMs < 750, `${cpuMs} ms of CPU in 1.5 s of outage`);
  const again = await startDatabase({ dataDir, log });
  t.after(() => again.stop());
  const seen = rounds[0] ?? 0;
  await until('rounds of both', () => (rounds[0] ?? 0) > seen + 2 && (rounds[1] ?? 0) > 2);
});

test('a network that fell silent for good is left for a new connection', async (t) => {
  const proxy = await openDatabaseProxy(database.url);
  t.after(() => proxy.close());
  const rounds = await startTicking(t, 'silent', proxy.url);
  proxy.strand();
  const before = rounds();
  await until('rounds over another one', () => rounds() >= before + 3);
});

test('kills while the queue connects leave it neither dead nor spinning', async (t) => {
  const dataDir = join(folder, 'shaky');
  const own = await startDatabase({ dataDir, log });
  t.after(() => own.stop());
  const seed = testSeed;
  t.diagnostic(`seed ${seed}`);
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const queue = createQueue({
      database: parseDatabaseUrl(own.url),
      log,
      name: `shaky-${attempt}`,
    });
    let rounds = 0;
    queue.schedule('tick', 100, async () => {
      rounds += 1;
    });
    queue.start();
    await sleep((seed * (attempt + 1)) % 120);
    const text = await readFile(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').catch(() => '');
    if (text !== '') process.kill(Number(text.split('\n')[0]), 'SIGKILL');
    await until(`rounds after kill ${attempt}`, () => rounds >= 2);
    await queue.stop(500);
  }
});
