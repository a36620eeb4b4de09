// Crowds at the routes of video jobs ask for more than money or limits allow. One key comes fifty
// times, and cancels and ends by an administrator race the work.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../../db/audit.ts';
import type { TestAccount } from '../../harness/account.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import {
  type Answer,
  askVideo,
  assertSubmittedOnce,
  endOf,
  makeVideo,
  submissionsOf,
} from '../../harness/video-jobs.ts';

// slow: It asks for some thousand jobs.

const jobsMax = 120;
const random = createRandom(testSeed);
let bed: Testbed;
let crowds = 0;
before(async () => {
  console.log(`# crowds of video jobs: seed ${testSeed}`);
  const env = { TOLLGATE_VIDEO_HASTE: '40', TOLLGATE_VIDEO_JOBS_MAX: String(jobsMax) };
  bed = await openTestbed({ env });
});
after(async () => {
  if (bed === undefined) return;
  assertSubmittedOnce(await submissionsOf(bed.dev.simulator_url));
  const wrong = (await auditLedger(bed.sql)).filter(({ broken }) => broken > 0n);
  assert.deepEqual(wrong, []);
  await bed.close();
});

const forever = {
  prompt: 'for ever [[sim render_ms=3000000]]',
  video_model: 'svc-sim-video',
  duration_seconds: 4,
};

async function failJob(id: string): Promise<number> {
  const response = await fetch(`${bed.url}/api/admin/video-jobs/${id}/fail`, {
    method: 'POST',
    headers: {
      'x-svc-session': bed.dev.admin_session_token,
      'content-type': 'application/json',
    },
    body: '{"reason":"the test is over"}',
  });
  await response.arrayBuffer();
  return response.status;
}

async function priceOf(body: object): Promise<bigint> {
  const account = await bed.account();
  const { id } = await makeVideo(account, body);
  const { heldMicros } = await account.balance();
  assert.equal(await failJob(id), 200);
  return heldMicros;
}

/** So many creations at once; who is told that the service is busy asks again, under its key. */
async function crowd(account: TestAccount, count: number) {
  crowds += 1;
  const create = async (index: number): Promise<Answer> => {
    const key = { 'idempotency-key': `crowd:${crowds}:${index}` };
    for (;;) {
      const answer = await askVideo(account, '', forever, key);
      if (answer.status !== 503) return answer;
      await sleep(200);
    }
  };
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => create(index)));
  const ids = answers.flatMap(({ status, job }) => (status <= 202 ? [job.id] : []));
  const refused = answers.filter(({ status }) => status > 202).map(({ status }) => status);
  return { ids, refused };
}

/** Ends what there is, also where a test fails: its jobs have the slots of others. */
async function endAll(account: TestAccount): Promise<void> {
  const rows = await bed.sql<{ id: string }[]>`
    SELECT id FROM video_jobs WHERE account_id = ${account.accountId} AND completed_at IS NULL`;
  assert.deepEqual(new Set(await Promise.all(rows.map(({ id }) => failJob(id)))), new Set([200]));
}

function times(count: number, status: number): number[] {
  return Array.from({ length: count }, () => status);
}

test('a thousand creations on money for a hundred make a hundred jobs', async () => {
  const price = await priceOf(forever);
  const micros = price * 100n + price / 2n;
  const account = await bed.account({ micros });
  try {
    const { ids, refused } = await crowd(account, 1_000);
    assert.equal(new Set(ids).size, 100);
    assert.deepEqual(refused, times(900, 402));
    const held = { availableMicros: price / 2n, heldMicros: price * 100n };
    assert.deepEqual(await account.balance(), held);
  } finally {
    await endAll(account);
  }
  assert.deepEqual(await account.balance(), { availableMicros: micros, heldMicros: 0n });
});

test('as many jobs of an account are open as are allowed, over both shards', async () => {
  const account = await bed.account({ micros: 1_000_000_000_000n });
  try {
    const { ids, refused } = await crowd(account, jobsMax + 80);
    assert.equal(new Set(ids).size, jobsMax);
    assert.deepEqual(refused, times(80, 429));
    assert.equal(await failJob(ids[0] ?? ''), 200);
    const again = await crowd(account, 10);
    assert.deepEqual([again.ids.length, again.refused], [1, times(9, 429)]);
  } finally {
    await endAll(account);
  }
  assert.equal((await account.balance()).heldMicros, 0n);
});

test('fifty requests with one key make one job, and a thousand looks cost nothing', async () => {
  const account = await bed.account();
  const key = { 'idempotency-key': 'one' };
  const made = await Promise.all(
    Array.from({ length: 50 }, () => askVideo(account, '', forever, key)),
  );
  assert.equal(made.filter(({ status }) => status === 202).length, 1);
  const ids = new Set(made.map(({ job }) => job?.id));
  assert.equal(ids.size, 1);
  const [id = ''] = ids;
  const before = await account.balance();
  // More at once would wait for connections, which is not what is asked here.
  for (let round = 0; round < 10; round += 1) {
    const looks = await Promise.all(Array.from({ length: 100 }, () => askVideo(account, `/${id}`)));
    assert.ok(looks.every(({ status }) => status === 200));
  }
  assert.deepEqual(await account.balance(), before);
  assert.equal(await failJob(id), 200);
});

test('of a cancel and a submission exactly one wins, two hundred times', async () => {
  const account = await bed.account();
  const { availableMicros } = await account.balance();
  const body = { ...forever, prompt: 'refused [[sim fault=moderated_submit]]' };
  const race = async () => {
    const { id } = await makeVideo(account, body);
    await sleep(Math.floor(random() * 12));
    const { status } = await askVideo(account, `/${id}/cancel`, {});
    const { job } = await endOf(account, id);
    return { id, status, end: job.error_code ?? job.status };
  };
  const races = [];
  for (let round = 0; round < 20; round += 1) {
    races.push(...(await Promise.all(Array.from({ length: 10 }, race))));
  }
  const seen = await submissionsOf(bed.dev.simulator_url);
  const submitted = new Set(seen.map(({ idempotency_key: key }) => key));
  let cancelled = 0;
  for (const { id, status, end } of races) {
    const isCancelled = status === 200;
    if (isCancelled) cancelled += 1;
    assert.equal(end, isCancelled ? 'cancelled' : 'moderation_blocked');
    assert.equal(submitted.has(id), !isCancelled, `${id} is ${end}`);
  }
  console.log(`# ${cancelled} of ${races.length} were cancelled`);
  assert.deepEqual(await account.balance(), { availableMicros, heldMicros: 0n });
});

test('an administrator who ends a job while it is settled ends it once', async () => {
  const account = await bed.account();
  const { availableMicros } = await account.balance();
  const body = { ...forever, prompt: 'soon [[sim render_ms=50]]' };
  const race = async () => {
    const { id } = await makeVideo(account, body);
    await sleep(Math.floor(random() * 1_500));
    const status = await failJob(id);
    const { job, headers } = await endOf(account, id);
    const charge = BigInt(headers.get('x-svc-charge-microcredits') ?? '0');
    assert.equal(job.error_code ?? job.status, status === 200 ? 'operator_failed' : 'succeeded');
    assert.equal(charge > 0n, status === 409);
    return charge;
  };
  const charges = await Promise.all(Array.from({ length: 8 }, race));
  const charged = charges.reduce((sum, charge) => sum + charge, 0n);
  const left = { availableMicros: availableMicros - charged, heldMicros: 0n };
  assert.deepEqual(await account.balance(), left);
});

test('a key names its job for a day, and is free behind that', async () => {
  const account = await bed.account();
  const body = { ...forever, prompt: 'old [[sim render_ms=50]]', request_id: 'daily' };
  const { id } = await makeVideo(account, body);
  await endOf(account, id);
  assert.equal((await askVideo(account, '', body)).status, 200);
  await bed.sql`
    UPDATE video_jobs SET created_at = created_at - interval '24 hours 1 second' WHERE id = ${id}`;
  const other = await makeVideo(account, { ...body, prompt: 'new [[sim fault=failed]]' });
  assert.notEqual(other.id, id);
  assert.equal((await endOf(account, other.id)).job.error_code, 'provider_failed');
  assert.equal((await askVideo(account, `/${id}`)).job.status, 'succeeded');
});
