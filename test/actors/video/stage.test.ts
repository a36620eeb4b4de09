// The life of a job as a table, against the moves that are allowed, and its deadlines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVideoLimits } from '../../../actors/video/limits.ts';
import { deadlineOf, isFinal, longestLifeMs, moves, stageOf } from '../../../actors/video/stage.ts';
import type { VideoJobStatus } from '../../../db/video-jobs/rows.ts';

const limits = createVideoLimits({ videoJobsMax: 20, videoDays: 30, videoHaste: 1 });
const minute = 60_000;

/** A row in this state; all of its steps took a minute. */
function row(status: VideoJobStatus, over: Partial<Parameters<typeof deadlineOf>[0]> = {}) {
  return {
    status,
    attemptOpen: false,
    createdMs: 0,
    submittingMs: null,
    runningMs: null,
    finalizingMs: null,
    storedMs: null,
    deadlineMs: 1_000 * minute,
    ...over,
  };
}

test('nothing leaves a final state, and every other leads to one', () => {
  for (const [status, to] of Object.entries(moves)) {
    assert.equal(isFinal(status as VideoJobStatus), to.length === 0);
    if (to.length > 0) assert.ok(to.includes('failed'), status);
  }
  assert.deepEqual(moves.running, ['succeeded', 'failed'], 'what runs cannot be cancelled');
});

const submitting = { submittingMs: minute };
const running = { ...submitting, runningMs: 2 * minute };
const finalizing = { ...running, finalizingMs: 3 * minute };
const stored = { ...finalizing, storedMs: 4 * minute };

const rows = [
  ['queued', {}, 'submit', 30, 'queue_timeout'],
  ['submitting', { ...submitting, attemptOpen: true }, 'lookUp', 11, 'submission_unknown'],
  ['submitting', submitting, 'submit', 11, 'no_route_available'],
  ['running', running, 'poll', 2 + 45, 'provider_timeout'],
  ['running', finalizing, 'fetch', 3 + 10, 'download_failed'],
  ['running', stored, 'settle', 1_000, 'internal'],
] as const;

for (const [status, facts, stage, minutes, code] of rows) {
  test(`${status} with ${Object.keys(facts).at(-1) ?? 'nothing'} goes on with ${stage}`, () => {
    const job = row(status, facts);
    assert.equal(stageOf(job), stage);
    assert.deepEqual(deadlineOf(job, 45, limits), { atMs: minutes * minute, code });
  });
}

for (const status of ['succeeded', 'failed', 'cancelled'] as const) {
  test(`${status} is over, whatever its row has`, () => {
    assert.equal(stageOf(row(status, { ...stored, attemptOpen: true })), 'over');
  });
}

test('a hold goes on behind the longest that its job can take', () => {
  assert.equal(longestLifeMs(45, limits), (30 + 10 + 45 + 120 + 30) * minute);
});

test('haste shortens every wait and no bound of size', () => {
  const hasty = createVideoLimits({ videoJobsMax: 20, videoDays: 30, videoHaste: 100 });
  assert.equal(hasty.queuedForMs, limits.queuedForMs / 100);
  assert.equal(hasty.leaseMs, 150);
  assert.equal(hasty.promptCharactersMax, limits.promptCharactersMax);
});
