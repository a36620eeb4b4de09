// kill -9 under video jobs: at each step of a job, and at random moments under a crowd of them. No
// job is submitted twice, none is lost, and what is charged was made.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { until } from './reach.ts';
import { openChance } from './seed.ts';
import {
  allOver,
  assertVideos,
  crowdOptions,
  grantedMicros,
  killUnderCrowd,
  videoFamilies,
  wantVideo,
} from './video-crowd.ts';

// slow: It kills and restarts real processes under jobs that take seconds.

let bed: Testbed;
before(async () => {
  bed = await openTestbed(crowdOptions);
});
after(() => bed?.close());

/** What rows say of jobs that stand at a step. */
const steps = [
  ['fault=slow kbps=20', `finalizing_at IS NOT NULL AND stored_at IS NULL`],
  ['render_ms=10000', `status = 'running' AND finalizing_at IS NULL`],
  ['first_ms=20000', `status = 'submitting'`],
] as const;

/** While its rows are locked, nothing is settled of this wallet. */
async function locked(walletId: string, use: () => Promise<void>): Promise<void> {
  await bed.sql.begin(async (transaction) => {
    await transaction`SELECT FROM wallets WHERE id = ${walletId} FOR UPDATE`;
    await use();
  });
}

test('kill -9 while jobs of each provider stand at each step', async () => {
  const account = await bed.account({ micros: grantedMicros });
  const other = await bed.account({ micros: grantedMicros });
  const want = (of: typeof account, directive: string) =>
    Promise.all(videoFamilies.map((family) => wantVideo(of, family, directive)));
  const stored = await want(other, 'render_ms=500');
  const jobs = (await Promise.all(steps.map(([directive]) => want(account, directive)))).flat();
  const standing = async (where: string, directive: string) => {
    const text = `SELECT FROM video_jobs WHERE prompt LIKE $1 AND ${where}`;
    return (await bed.sql.unsafe(text, [`%${directive}]]`])).length === videoFamilies.length;
  };
  await locked(other.walletId, async () => {
    for (const [directive, where] of [['render_ms=500', 'stored_at IS NOT NULL'], ...steps]) {
      await until(`jobs of ${directive} are there`, 20_000, () => standing(where, directive));
    }
    const fresh = await Promise.all(steps.map(([directive, where]) => standing(where, directive)));
    assert.deepEqual(fresh, [true, true, true], 'all of them stand at their step');
    await bed.gateway.killMain('SIGKILL');
  });
  await allOver(bed, [...jobs, ...stored]);
  const { succeeded, unknown } = await assertVideos(bed, account);
  // A submission that was under way is found in the list of one provider alone.
  assert.deepEqual([succeeded, unknown], [7, 2]);
  assert.equal((await assertVideos(bed, other)).succeeded, 3);
});

test('kill -9 right behind the reply, and at random moments under a crowd', async () => {
  const chance = openChance('video jobs');
  const account = await bed.account({ micros: grantedMicros });
  const jobs = await Promise.all(videoFamilies.map((family) => wantVideo(account, family, '')));
  await bed.gateway.killMain();
  await allOver(bed, jobs);
  await assertVideos(bed, account);
  const { succeeded, unknown } = await killUnderCrowd(bed, chance, { jobs: 18, kills: 2 });
  console.log(`# ${succeeded} succeeded, ${unknown} unknown`);
});
