// The database killed and started again, and stopped for some seconds, under load.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf } from '../../bench/proc.ts';
import { withBooks } from './books.ts';
import { chat } from './client.ts';
import { progress, startLoad } from './load.ts';
import { openRunning, settleAccounts } from './outage.ts';
import { cleanUp, openGateway, readyCount } from './reach.ts';
import { openChance } from './seed.ts';

// slow: It waits through outages of a database that last for seconds.

after(cleanUp);

const HANG_MS = 10_000;

test('kill -9 of the database under load: 503, then all is settled, by itself', async () => {
  const chance = openChance('database killed');
  const gateway = await openGateway();
  const main = await gateway.mainPid();
  const load = startLoad(gateway, chance, 16);
  await progress(load, 20, 15_000);
  const open = await openRunning(gateway, 12, '[[sim tokens=20 gap_ms=50]]');
  await sleep(chance.integer(0, 900));
  process.kill(await gateway.postmasterPid(), 'SIGKILL');
  const begun = performance.now();
  await sleep(100);
  await progress(load, 1, 15_000);
  const backMs = Math.round(performance.now() - begun);
  await progress(load, 20, 15_000);
  await load.stop();
  const refused = await settleAccounts(gateway, await Promise.all(open), load);
  assert.equal(await gateway.mainPid(), main, 'no other process was restarted');
  console.log(`# answers again after ${backMs} ms, ${refused} calls refused`);
});

test('a database that hangs for 10 s: 503 in time, no settlement is lost', async () => {
  const chance = openChance('database stopped');
  const gateway = await openGateway();
  const load = startLoad(gateway, chance, 8);
  await progress(load, 10, 15_000);
  const open = await openRunning(gateway, 12, '[[sim tokens=20 gap_ms=40]]');
  const postmaster = await gateway.postmasterPid();
  const pids = [postmaster, ...descendantsOf(postmaster)];
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  const over = sleep(HANG_MS).then(() => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  });
  const calling = chat(gateway, { text: '[[sim tokens=2]]', stream: false });
  const health = await fetch(`${gateway.url}/api/health`);
  const summary = await fetch(`${gateway.url}/api/me/billing/summary`, {
    headers: { 'x-svc-session': gateway.dev.session_token },
  });
  const models = await fetch(`${gateway.url}/api/public/models`);
  const late = await calling;
  await over;
  assert.equal(late.status, 503, 'a call that begins meanwhile is refused');
  assert.ok(late.durationMs < HANG_MS);
  assert.equal(health.status, 503);
  const { ok, database } = (await health.json()) as { ok: boolean; database: object };
  assert.deepEqual([ok, database], [false, { status: 'unavailable', latency_ms: null }]);
  assert.equal(models.status, 503);
  assert.ok(models.headers.has('retry-after'));
  const { error } = (await models.json()) as { error: Record<string, unknown> };
  assert.deepEqual(Object.keys(error), ['code', 'message', 'request_id']);
  assert.equal(error.code, 'dependency_unavailable', 'and no word of what is away');
  assert.equal(summary.status, 503);
  assert.ok(summary.headers.has('retry-after'));
  await progress(load, 20, 15_000);
  await load.stop();
  const refused = await settleAccounts(gateway, await Promise.all(open), load);
  console.log(`# ${refused} calls of the load refused`);
});

test('connections ended again and again under load: 503, and nothing stands still', async () => {
  const chance = openChance('connections ended');
  const gateway = await openGateway();
  const main = await gateway.mainPid();
  const load = startLoad(gateway, chance, 32);
  await progress(load, 20, 15_000);
  const open = await openRunning(gateway, 12, '[[sim tokens=60 gap_ms=50]]');
  await withBooks(gateway, async (sql) => {
    for (let round = 0; round < 12; round += 1) {
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      await sleep(chance.integer(50, 600));
    }
  });
  await progress(load, 20, 4_500);
  await load.stop();
  const refused = await settleAccounts(gateway, await Promise.all(open), load);
  assert.equal(await gateway.mainPid(), main, 'no other process was restarted');
  assert.equal(readyCount(gateway), 1);
  console.log(`# ${refused} calls of the load refused`);
});
