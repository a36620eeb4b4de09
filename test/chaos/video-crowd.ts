// Fifty people who want videos of three providers while the gateway is killed. Whoever loses an
// answer asks again under the same key, as real clients do.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditBlobs } from '../../actors/blobs/audit.ts';
import { openBlobStore } from '../../actors/blobs/store.ts';
import { videoScratchFolder } from '../../actors/video/scratch.ts';
import { auditLedger } from '../../db/audit.ts';
import { loadMasterKey } from '../../runtime/secret.ts';
import type { TestAccount } from '../harness/account.ts';
import { startStopwatch } from '../harness/stopwatch.ts';
import type { Testbed } from '../harness/testbed.ts';
import { assertSubmittedOnce, submissionsOf } from '../harness/video-jobs.ts';
import { tail, until } from './reach.ts';
import type { Chance } from './seed.ts';

export const videoModels = {
  veo: 'vendorB-3.1-fast-generate-preview',
  imagine: 'vendorA-imagine-video',
  videos: 'svc-sim-video',
} as const;
export type VideoFamilyName = keyof typeof videoModels;
export const videoFamilies = ['veo', 'imagine', 'videos'] as const;

/** Waits are shorter by this; a job still has longer than a few restarts take. */
export const haste = 20;

/** A test that kills takes as many jobs as it likes. */
export const crowdOptions = {
  own: 'it kills the gateway and audits every wallet',
  env: { TOLLGATE_VIDEO_HASTE: String(haste), TOLLGATE_VIDEO_JOBS_MAX: '1000' },
};

export interface CrowdJob {
  id: string;
  family: VideoFamilyName;
  directive: string;
}

/** What an account of these tests begins with. */
export const grantedMicros = 100_000_000_000n;
const wantedMs = 60_000;
const overMs = 120_000;
let asked = 0;

/** Asks until it is taken, whatever becomes of the gateway meanwhile. */
export async function wantVideo(
  account: TestAccount,
  family: VideoFamilyName,
  directive: string,
): Promise<CrowdJob> {
  asked += 1;
  const key = `crowd:${asked}`;
  const body = JSON.stringify({
    prompt: `${family} ${asked} [[sim ${directive}]]`,
    video_model: videoModels[family],
    duration_seconds: 4,
  });
  const headers = {
    authorization: `Bearer ${account.apiKey}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const watch = startStopwatch();
  for (;;) {
    const url = `${account.baseUrl}/v1/video/generations`;
    const response = await fetch(url, { method: 'POST', headers, body }).catch(() => null);
    const text = (await response?.text().catch(() => null)) ?? null;
    if (text !== null && (response?.status === 202 || response?.status === 200)) {
      const { job } = JSON.parse(text) as { job: { id: string } };
      return { id: job.id, family, directive };
    }
    const status = response?.status ?? 503;
    assert.ok(status === 409 || status >= 500, `${status} ${text}`);
    watch.assertWithin(wantedMs, 'a job is taken');
    await sleep(50);
  }
}

interface Wish {
  directive: string;
  /** How the job ends where nobody is killed. */
  end: string;
}

const wishes: readonly [Wish, ...Wish[]] = [
  { directive: '', end: 'succeeded' },
  { directive: 'render_ms=1500', end: 'succeeded' },
  { directive: 'first_ms=400', end: 'succeeded' },
  { directive: 'fault=slow kbps=400', end: 'succeeded' },
  { directive: 'fault=expired_link times=2', end: 'succeeded' },
  { directive: 'fault=429 at=poll times=3', end: 'succeeded' },
  { directive: 'fault=failed', end: 'provider_failed' },
  { directive: 'fault=failed render_ms=800', end: 'provider_failed' },
  { directive: 'fault=moderated', end: 'moderation_blocked' },
  { directive: 'fault=moderated_submit first_ms=300', end: 'moderation_blocked' },
];
const endOf = new Map(wishes.map(({ directive, end }) => [directive, end]));

/** So many jobs of all families at once. */
function gatherVideos(account: TestAccount, chance: Chance, count: number) {
  const wanted = Array.from({ length: count }, (_, index) => {
    const { directive } = chance.pick(wishes);
    return wantVideo(account, videoFamilies[index % 3] ?? 'veo', directive);
  });
  return Promise.all(wanted);
}

/** Waits until all of them are over; none of them is over later than its deadline. */
export async function allOver(
  bed: Testbed,
  jobs: readonly CrowdJob[],
  timeoutMs = overMs,
): Promise<void> {
  const ids = jobs.map(({ id }) => id);
  const open = async () => {
    const [row] = await bed.sql<{ open: number }[]>`
      SELECT count(*)::int AS open FROM video_jobs
      WHERE id = ANY (${ids}) AND completed_at IS NULL`;
    return row?.open ?? -1;
  };
  try {
    await until('every job is over', timeoutMs, async () => (await open()) === 0, 50);
  } catch (error) {
    const rows = await bed.sql`SELECT id, status, provider, prompt, attempt_open, finalizing_at,
      stored_at, lease_until, now() FROM video_jobs WHERE completed_at IS NULL LIMIT 10`;
    throw new Error(`${error}\n${JSON.stringify(rows, null, 1)}\n${tail(bed.gateway)}`);
  }
}

/** Kills the main process at random moments under a crowd of jobs. */
export async function killUnderCrowd(
  bed: Testbed,
  chance: Chance,
  { jobs, kills }: { jobs: number; kills: number },
): Promise<CrowdFigures> {
  const account = await bed.account({ micros: grantedMicros });
  const gathering = gatherVideos(account, chance, jobs);
  for (let kill = 0; kill < kills; kill += 1) {
    await sleep(chance.integer(50, 2_500));
    await bed.gateway.killMain();
  }
  const made = await gathering;
  assert.equal(new Set(made.map(({ id }) => id)).size, jobs);
  await allOver(bed, made);
  const figures = await assertVideos(bed, account);
  assert.equal(figures.jobs, jobs, 'each key made one job');
  return figures;
}

export interface CrowdFigures {
  jobs: number;
  succeeded: number;
  unknown: number;
  chargedMicros: bigint;
}

/** Whatever was killed: each job has a right end, was submitted once, and money is right. */
export async function assertVideos(bed: Testbed, account: TestAccount): Promise<CrowdFigures> {
  const rows = await bed.sql<
    {
      status: string;
      code: string | null;
      prompt: string;
      charge: bigint | null;
      late: boolean;
      price: bigint | null;
    }[]
  >`SELECT status, error_code AS code, prompt, charge_micros AS charge,
      (candidates -> candidate ->> 'charge')::bigint AS price, completed_at > deadline_at AS late
    FROM video_jobs WHERE account_id = ${account.accountId}`;
  let chargedMicros = 0n;
  for (const { status, code, prompt, charge, price, late } of rows) {
    const [, directive = ''] = /\[\[sim (.*)\]\]/.exec(prompt) ?? [];
    const end = code ?? status;
    // Killed between its submission and the reply, a job may be anywhere.
    const isRight = end === (endOf.get(directive) ?? 'succeeded') || end === 'submission_unknown';
    assert.ok(isRight, `${prompt}: ${end}\n${tail(bed.gateway)}`);
    assert.equal(late, false, `${prompt} ended behind its deadline`);
    assert.equal(charge, status === 'succeeded' ? price : null, prompt);
    chargedMicros += charge ?? 0n;
  }
  const balance = await account.balance();
  assert.deepEqual(balance, { availableMicros: grantedMicros - chargedMicros, heldMicros: 0n });
  assertSubmittedOnce(await submissionsOf(bed.dev.simulator_url));
  await assertVideoBooks(bed);
  const count = (wanted: string) =>
    rows.filter(({ status, code }) => (code ?? status) === wanted).length;
  return {
    jobs: rows.length,
    succeeded: count('succeeded'),
    unknown: count('submission_unknown'),
    chargedMicros,
  };
}

/** Ledger and blob store are right, and nothing lies about. */
export async function assertVideoBooks({ sql, gateway }: Testbed): Promise<void> {
  const wrong = (await auditLedger(sql)).filter(({ broken }) => broken > 0n);
  assert.deepEqual(wrong, []);
  const { dataDir } = gateway;
  const masterKey = await loadMasterKey(dataDir, null);
  const lines: string[] = [];
  await auditBlobs({
    sql,
    blobs: openBlobStore({ config: { dataDir, previousSecret: null }, masterKey, node: 0 }),
    clock: Date.now,
    unnamedMsMax: 86_400_000,
    pageLength: 200,
    tellWrong: (line) => lines.push(line),
    tellRule: () => undefined,
  });
  assert.deepEqual(lines, []);
  assert.deepEqual(await readdir(videoScratchFolder(dataDir)), [], 'no file is left over');
}
