// A submission that was taken is written down, also if the database is away at that moment. This
// run alone knows the id that the provider gave.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { VideoDeps } from '../../../actors/video/deps.ts';
import { createVideoLimits } from '../../../actors/video/limits.ts';
import { Run } from '../../../actors/video/run.ts';
import { conclude } from '../../../actors/video/submission.ts';
import type { VideoJob } from '../../../db/video-jobs.ts';

const limits = createVideoLimits({ videoJobsMax: 1, videoDays: 1, videoHaste: 1_000 });

/** Pauses keep no process alive. */
let alive: NodeJS.Timeout;
before(() => {
  alive = setInterval(() => {}, 1_000);
});
after(() => clearInterval(alive));

/** A run whose database answers one after the other. */
function runOn(answers: (Error | { count: number })[], warnings: string[]): Run {
  const sql = async () => {
    const answer = answers.shift();
    assert.ok(answer !== undefined, 'asked too often');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const log = { warn: (_details: object, text: string) => warnings.push(text) };
  const health = { succeeded: () => {} };
  const job = { id: 'vjob_1', epoch: 1, candidates: '[]', nowMs: 0, deadlineMs: 60_000 };
  const deps = { sql, limits, log, health } as unknown as VideoDeps;
  return new Run(deps, job as unknown as VideoJob);
}

const lost = Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' });
const accepted = { kind: 'accepted', upstreamId: 'theirs' } as const;

test('a database that is away is asked again until it has the id', async () => {
  const warnings: string[] = [];
  const run = runOn([lost, lost, { count: 1 }], warnings);
  assert.deepEqual(await conclude(run, accepted), { kind: 'next' });
  assert.deepEqual([run.job.status, run.job.upstreamId], ['running', 'theirs']);
  assert.equal(warnings.length, 2);
});

test('who was replaced meanwhile stops', async () => {
  const run = runOn([lost, { count: 0 }], []);
  assert.deepEqual(await conclude(run, accepted), { kind: 'gone' });
  const replaced = runOn([lost], []);
  replaced.lost();
  assert.deepEqual(await conclude(replaced, accepted), { kind: 'gone' });
});

test('a bug is no outage', async () => {
  await assert.rejects(conclude(runOn([new Error('a bug')], []), accepted), /a bug/);
});
