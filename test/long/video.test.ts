// A hundred times kill -9 under crowds of video jobs of three providers. Every
// crowd ends with right money and files, and with one submission of each job.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { openChance } from '../chaos/seed.ts';
import { crowdOptions, killUnderCrowd } from '../chaos/video-crowd.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { recorded, roundsOf, say } from './record.ts';

const KILLS = 100;
const KILLS_EACH = 4;
const JOBS_EACH = 50;
/** The parent gives a main process up that ends more than ten times a minute. */
const CROWDS_EACH = 2;

test('kill -9 under crowds of video jobs drifts by nothing', async () => {
  const chance = openChance('video rounds');
  const frame = {
    name: 'long-video',
    title: 'kill -9 under video jobs',
    method:
      'Crowds of 50 jobs of three families, with slow, expired, moderated and failing ones. The ' +
      'main process is killed four times under each, at random moments; two crowds share a data ' +
      'folder. Afterwards every job is over by its deadline, none was submitted twice, charges ' +
      'are the prices of what succeeded, nothing is held, and the checks of ledger and blob ' +
      'store find nothing.',
  };
  let bed: Testbed | null = null;
  try {
    await recorded(frame, async () => {
      const crowds = Math.ceil(roundsOf(KILLS) / KILLS_EACH);
      const sums = { jobs: 0, succeeded: 0, unknown: 0, kills: 0 };
      for (let crowd = 0; crowd < crowds; crowd += 1) {
        if (crowd % CROWDS_EACH === 0) {
          await bed?.close();
          bed = await openTestbed(crowdOptions);
        }
        assert(bed !== null);
        const figures = await killUnderCrowd(bed, chance, { jobs: JOBS_EACH, kills: KILLS_EACH });
        sums.jobs += figures.jobs;
        sums.succeeded += figures.succeeded;
        sums.unknown += figures.unknown;
        sums.kills += KILLS_EACH;
        say(`${sums.kills} kills, ${sums.jobs} jobs, ${sums.unknown} of them unknown`);
      }
      return {
        columns: ['figure', 'value'],
        rows: [
          ['seed', String(chance.seed)],
          ['jobs', sums.jobs.toLocaleString('en-US')],
          ['succeeded and charged', sums.succeeded.toLocaleString('en-US')],
          ['whose submission is unknown, for nothing', sums.unknown.toLocaleString('en-US')],
          ['submitted twice, or charged wrongly', '0'],
        ],
        bars: [
          {
            text: 'kills after which everything was right',
            limit: roundsOf(KILLS),
            measured: sums.kills,
            unit: '',
            sense: 'least' as const,
          },
        ],
        chart: null,
        notes: [],
      };
    });
  } finally {
    await (bed as Testbed | null)?.close();
  }
});
