// Video jobs in the books: made with their hold, ended once, and only by whoever has the epoch.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { VideoJobClaim, VideoJobFinish } from '../../../actors/video/holder.ts';
import type { HoldRequest } from '../../../actors/wallet/protocol.ts';
import { type Ends, recoverDead } from '../../../actors/wallet/recovery.ts';
import { endExpired } from '../../../actors/wallet/sweep.ts';
import { registerInstance } from '../../../db/instances.ts';
import { takeVideoJob } from '../../../db/video-jobs/moves.ts';
import { videoJobRoute } from '../../../db/video-jobs/rows.ts';
import { findVideoJob } from '../../../db/video-jobs.ts';
import { newId, siblingId } from '../../../runtime/ids.ts';
import { accountId, type Bank, type Branch, openBank, purchase } from './bank.ts';

let bank: Bank;
let branch: Branch;
let other: Branch;
let ends: Ends;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
  other = bank.branch();
  ends = {
    release: (id, request) => branch.ask(id, 'release', request),
    settle: (id, request) => branch.ask(id, 'settle', request),
  };
});
after(() => bank.close());

const leaseMs = 60_000;
const charge = { chargeMicros: 300n, providerCostMicros: 280n };

async function funded(micros = 10_000n): Promise<string> {
  const walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', purchase(micros));
  return walletId;
}

interface Wanted {
  requestId?: string;
  activeMax?: number;
  livesMs?: number;
}

function jobHold({ requestId, activeMax, livesMs = leaseMs }: Wanted = {}): HoldRequest {
  const id = newId('vjob', 1);
  const key = requestId ?? newId('req', 1);
  const claim: VideoJobClaim = {
    id,
    accountId,
    apiKeyId: null,
    route: videoJobRoute,
    idempotencyKey: key,
    requestId: key,
    fingerprint: 'f',
    conversationId: null,
    prompt: 'A boat',
    durationSeconds: 5,
    aspectRatio: '16:9',
    resolution: '720p',
    generateAudio: true,
    seed: null,
    candidatesJson: '[]',
    createdMs: Date.now(),
    livesMs,
  };
  return {
    holdId: siblingId(id, 'hold'),
    amountMicros: 1_000n,
    owner: { kind: 'video_job', id, instanceId: 'i-live' },
    expiresAtMs: Date.now() + livesMs,
    claim,
    ...(activeMax === undefined ? {} : { activeMax }),
  };
}

function finishOf(hold: HoldRequest, epoch: number | null, status: 'succeeded' | 'failed') {
  const { id } = hold.owner;
  const isGood = status === 'succeeded';
  const finish: VideoJobFinish = {
    kind: 'video_job',
    id,
    epoch,
    status,
    errorCode: isGood ? null : 'provider_failed',
    note: null,
    event: null,
    video: isGood
      ? {
          id: siblingId(id, 'vid'),
          jobId: id,
          accountId,
          blobId: `blob_${epoch}`,
          title: 'A boat',
          mimeType: 'video/mp4',
          durationSeconds: 5,
          aspectRatio: '16:9',
          resolution: '720p',
          sizeBytes: 10,
          sha256: 'a'.repeat(64),
        }
      : null,
  };
  return finish;
}

async function take(hold: HoldRequest, fromOthers = false) {
  const job = await takeVideoJob(bank.sql, hold.owner.id, { leaseMs, fromOthers });
  assert.ok(job !== null, 'the job is there to be taken');
  return job;
}

async function rowOf(hold: HoldRequest) {
  const job = await findVideoJob(bank.sql, accountId, hold.owner.id);
  assert.ok(job !== null, 'the row was made with the hold');
  return job;
}

async function begin(walletId: string, wanted: Wanted = {}): Promise<HoldRequest> {
  const hold = jobHold(wanted);
  assert.equal((await branch.ask(walletId, 'hold', hold)).status, 'held');
  return hold;
}

async function run(walletId: string, hold: HoldRequest): Promise<void> {
  await bank.sql`UPDATE video_jobs SET status = 'running' WHERE id = ${hold.owner.id}`;
  await branch.ask(walletId, 'balance', {});
}

test('a job is settled once with its video, whoever asks again', async () => {
  const walletId = await funded();
  const hold = await begin(walletId);
  const { epoch } = await take(hold);
  await run(walletId, hold);
  const settle = { holdId: hold.holdId, ...charge, finish: finishOf(hold, epoch, 'succeeded') };
  for (const each of [branch, branch, other]) {
    const reply = await each.ask(walletId, 'settle', settle);
    assert.deepEqual(reply, { status: 'settled', chargedMicros: 300n, shortfallMicros: 0n });
  }
  const job = await rowOf(hold);
  assert.deepEqual(
    [job.status, job.chargeMicros, job.video?.blobId],
    ['succeeded', 300n, 'blob_1'],
  );
  await bank.assertBooks();
});

test('whoever was replaced neither settles nor releases, and nothing is written', async () => {
  const walletId = await funded();
  const hold = await begin(walletId);
  const first = await take(hold);
  await run(walletId, hold);
  assert.equal(
    await takeVideoJob(bank.sql, hold.owner.id, { leaseMs, fromOthers: false }),
    null,
    'its lease goes on',
  );
  const second = await take(hold, true);
  assert.equal(second.epoch, first.epoch + 1);
  const { holdId } = hold;
  const late = finishOf(hold, first.epoch, 'succeeded');
  const settled = await other.ask(walletId, 'settle', { holdId, ...charge, finish: late });
  assert.deepEqual(settled, { status: 'superseded' });
  const finish = finishOf(hold, first.epoch, 'failed');
  const released = await other.ask(walletId, 'release', { holdId, reason: 'failed', finish });
  assert.deepEqual(released, { status: 'superseded' });
  assert.equal((await rowOf(hold)).status, 'running');
  const balance = await branch.ask(walletId, 'balance', {});
  assert.deepEqual(balance, { status: 'ok', availableMicros: 9_000n, heldMicros: 1_000n });
  const own = finishOf(hold, second.epoch, 'succeeded');
  const reply = await branch.ask(walletId, 'settle', { holdId, ...charge, finish: own });
  assert.equal(reply.status, 'settled');
  await bank.assertBooks();
});

test('of a takeover and a settlement at once exactly one counts', async () => {
  const walletId = await funded(1_000_000n);
  for (let round = 0; round < 20; round += 1) {
    const hold = await begin(walletId);
    const { epoch } = await take(hold);
    await run(walletId, hold);
    const settle = { holdId: hold.holdId, ...charge, finish: finishOf(hold, epoch, 'succeeded') };
    const [reply, taken] = await Promise.all([
      branch.ask(walletId, 'settle', settle),
      takeVideoJob(bank.sql, hold.owner.id, { leaseMs, fromOthers: true }),
    ]);
    assert.equal(reply.status, taken === null ? 'settled' : 'superseded', `round ${round}`);
    assert.equal((await rowOf(hold)).status, taken === null ? 'succeeded' : 'running');
  }
  await bank.assertBooks();
});

test('a key names its job until that failed uncharged', async () => {
  const walletId = await funded();
  const requestId = `order-${newId('req', 1)}`;
  const hold = await begin(walletId, { requestId });
  for (const each of [branch, other]) {
    const reply = await each.ask(walletId, 'hold', jobHold({ requestId }));
    assert.deepEqual(reply, { status: 'duplicate', generationId: hold.owner.id });
  }
  const { epoch } = await take(hold);
  const finish = finishOf(hold, epoch, 'failed');
  const { holdId } = hold;
  await other.ask(walletId, 'release', { holdId, reason: 'failed', finish });
  const again = await begin(walletId, { requestId });
  assert.notEqual(again.owner.id, hold.owner.id);
  await bank.assertBooks();
});

test('as many jobs of a wallet hold at once as are allowed, over both processes', async () => {
  const walletId = await funded();
  const asked = Array.from({ length: 20 }, (_, index) => {
    const hold = jobHold({ activeMax: 3 });
    return (index % 2 === 0 ? branch : other).ask(walletId, 'hold', hold);
  });
  const replies = (await Promise.all(asked)).map(({ status }) => status);
  assert.equal(replies.filter((status) => status === 'held').length, 3);
  assert.equal(replies.filter((status) => status === 'too_many').length, 17);
  await bank.assertBooks();
});

test('a hold outlives its process, and ends with its job when its time is over', async () => {
  const walletId = await funded();
  const lasting = await begin(walletId);
  const ending = await begin(walletId, { livesMs: -1_000 });
  await registerInstance(bank.sql, 'i-live', leaseMs);
  const previousInstanceIds = ['i-live'];
  await recoverDead(bank.sql, {
    instanceId: 'i-next',
    others: 'none',
    previousInstanceIds,
    ...ends,
  });
  assert.equal((await rowOf(lasting)).status, 'queued');
  // The clock of whoever sweeps counts for nothing here.
  const clock = () => Date.now() - 3_600_000;
  await endExpired(bank.sql, { clock, instanceId: 'i-next', ...ends });
  assert.equal((await rowOf(lasting)).status, 'queued');
  const job = await rowOf(ending);
  assert.deepEqual([job.status, job.errorCode], ['failed', 'internal']);
  const balance = await branch.ask(walletId, 'balance', {});
  assert.deepEqual(balance, { status: 'ok', availableMicros: 9_000n, heldMicros: 1_000n });
  await bank.assertBooks();
});
