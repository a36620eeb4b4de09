// Analyses over crashes. Whoever goes on attaches to what was paid for or begins anew. There is one
// charge, and whoever was replaced writes nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../../db/audit.ts';
import type { TestAccount } from '../../harness/account.ts';
import { Contract } from '../../harness/contract.ts';
import { type Gateway, startGateway } from '../../harness/gateway.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { Analyses, type Analysis } from './analyses-bed.ts';

// slow: It kills and stops real processes, and waits for leases.

const env = { TOLLGATE_SECRET: randomBytes(32).toString('base64url'), TOLLGATE_VIDEO_HASTE: '10' };
const grantedMicros = 1_000_000_000n;
let bed: Testbed;
let other: Gateway | null = null;
let analyses: Analyses;
before(async () => {
  bed = await openTestbed({ shards: 1, env });
  analyses = new Analyses(await Contract.load(bed.url), () => bed.gateway.dev.simulator_url);
});
after(async () => {
  await other?.close();
  await bed?.close();
});

type Row = { status: string; epoch: bigint; source: string | null };

async function rowOf({ id }: Analysis): Promise<Row> {
  const [row] = await bed.sql<Row[]>`
    SELECT status, epoch, source FROM video_analyses WHERE id = ${id}`;
  assert.ok(row !== undefined);
  return row;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, `not in time: ${what}`);
    await sleep(20);
  }
}

const isRunning = (analysis: Analysis) => async () => (await rowOf(analysis)).status === 'running';
const isAsked = (analysis: Analysis) => async () => {
  const [row] = await bed.sql`SELECT FROM generations WHERE status = 'running'
    AND idempotency_key = ${`analysis:${analysis.id}`}`;
  return row !== undefined;
};

/** It is described, paid for once, and nothing is held for it any more. */
async function assertPaidOnce(account: TestAccount, analysis: Analysis): Promise<Analysis> {
  const over = await analyses.end(account, analysis);
  assert.equal(over.status, 'completed', over.error_message);
  assert.equal(over.result?.segments[2]?.description, 'the number 2');
  const charge = over.svc_usage?.charge_microcredits ?? 0;
  assert.ok(charge > 0);
  const { availableMicros } = await account.quiet();
  assert.equal(grantedMicros - availableMicros, BigInt(charge));
  const findings = (await auditLedger(bed.sql)).filter(({ broken }) => broken > 0n);
  assert.deepEqual(findings, []);
  return over;
}

const slowly = () => ({ source_url: analyses.source('slow.mp4?kbps=300'), max_frames: 10 });
const atLength = { prompt: 'What? [[sim gap_ms=60]]', max_frames: 10, model: 'svc-sim-chat' };

test('killed while it fetches: it is fetched again', async () => {
  const account = await bed.account();
  const analysis = await analyses.begin(account, slowly());
  await until('it fetches', isRunning(analysis));
  await bed.gateway.killMain();
  await assertPaidOnce(account, analysis);
});

test('killed while the model answers: it is asked again, and paid once', async () => {
  const account = await bed.account();
  const analysis = await analyses.begin(account, atLength);
  await until('the model answers', isAsked(analysis));
  await bed.gateway.killMain();
  await assertPaidOnce(account, analysis);
});

test('killed behind the settlement: what was paid is told, nobody is asked', async () => {
  const account = await bed.account();
  const first = await analyses.run(account, { max_frames: 10 });
  const before = (await bed.simulator.stats()).started;
  // As the crash would leave it. The source is gone meanwhile.
  await bed.sql`
    UPDATE video_analyses SET status = 'running', result = NULL, usage = NULL,
      completed_at = NULL, progress = 50, source_url = ${analyses.source('gone.mp4')}
    WHERE id = ${first.id}`;
  const again = await assertPaidOnce(account, first);
  assert.deepEqual(again.result, first.result);
  assert.deepEqual(again.svc_usage, first.svc_usage);
  assert.equal((await bed.simulator.stats()).started, before);
});

test('a stop leaves it to the next start', async () => {
  const account = await bed.account();
  const analysis = await analyses.begin(account, slowly());
  await until('it fetches', isRunning(analysis));
  assert.equal(await bed.gateway.stop(), 0);
  assert.equal((await rowOf(analysis)).status, 'running');
  await bed.gateway.start();
  await bed.sql`UPDATE video_analyses SET source_url = ${analyses.source('count.mp4')}
    WHERE id = ${analysis.id}`;
  await assertPaidOnce(account, analysis);
});

test('a stop waits for the model that answers', async () => {
  const account = await bed.account();
  const analysis = await analyses.begin(account, atLength);
  await until('the model answers', isAsked(analysis));
  assert.equal(await bed.gateway.stop(), 0);
  assert.equal((await rowOf(analysis)).status, 'completed');
  await bed.gateway.start();
  await assertPaidOnce(account, analysis);
});

test('who waits or runs beyond the deadline fails for nothing', async () => {
  const account = await bed.account();
  const slow = { source_url: analyses.source('stall.mp4') };
  const stalled = [await analyses.begin(account, slow), await analyses.begin(account, slow)];
  for (const each of stalled) await until('it fetches', isRunning(each));
  const waiting = await analyses.begin(account, { max_frames: 1 });
  await bed.sql`UPDATE video_analyses SET created_at = now() - interval '31 minutes'
    WHERE id = ${waiting.id}`;
  assert.equal((await analyses.end(account, waiting)).error_code, 'queue_timeout');
  await bed.sql`UPDATE video_analyses SET running_at = now() - interval '16 minutes'
    WHERE account_id = ${account.accountId} AND status = 'running'`;
  await bed.gateway.killMain();
  for (const each of stalled) {
    assert.equal((await analyses.end(account, each)).error_code, 'timeout');
  }
  assert.equal((await account.quiet()).availableMicros, grantedMicros);
});

test('two processes: who stood still finds that it was replaced, and writes nothing', async () => {
  const simulator = new URL(bed.gateway.dev.simulator_url).host;
  other = await startGateway({
    env: {
      ...env,
      DATABASE_URL: bed.database.url,
      TOLLGATE_MODE: 'dev',
      TOLLGATE_FETCH_PRIVATE: simulator,
    },
    shards: 1,
  });
  for (const [what, body, isThere] of [
    ['it fetches', slowly(), isRunning],
    ['the model answers', atLength, isAsked],
  ] as const) {
    const account = await bed.account();
    const there = new Analyses(await Contract.load(other.url), () => bed.gateway.dev.simulator_url);
    await other.stop();
    const analysis = await analyses.begin(account, body);
    await until(what, isThere(analysis));
    const mainPid = await bed.gateway.mainPid();
    process.kill(mainPid, 'SIGSTOP');
    try {
      await other.start();
      const { epoch } = await rowOf(analysis);
      await until('the other takes it', async () => (await rowOf(analysis)).epoch > epoch);
      if (what === 'it fetches') await there.end(account, analysis);
    } finally {
      process.kill(mainPid, 'SIGCONT');
    }
    await assertPaidOnce(account, analysis);
  }
});
