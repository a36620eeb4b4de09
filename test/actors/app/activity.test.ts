// Counting in memory: nothing is lost by failures, by what comes meanwhile, or at the end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActivity } from '../../../actors/app/activity.ts';
import { appLimits } from '../../../actors/app/limits.ts';
import type { ActivityCount } from '../../../db/app/installations.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';

const silent = { warn: () => undefined };
const nowMs = Date.UTC(2026, 10, 27, 23, 59);
const subjectOf = (subject: string) => ({
  subject,
  accountId: null,
  platform: null,
  appVersion: null,
  source: null,
});

function total(written: readonly ActivityCount[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { day, subject, count } of written) {
    const key = `${day} ${subject}`;
    sums.set(key, (sums.get(key) ?? 0) + count);
  }
  return sums;
}

test('whatever fails and comes meanwhile, each is written once', async () => {
  const random = createRandom(testSeed);
  const written: ActivityCount[] = [];
  const limits = { ...appLimits.activity, batchMax: 7, retryMs: 1 };
  const activity = createActivity({
    async write(counts) {
      await new Promise((resolve) => setTimeout(resolve, random() * 2));
      if (random() < 0.3) throw new Error('the database is away');
      written.push(...counts.map((count) => ({ ...count })));
    },
    limits,
    log: silent,
  });
  const expected = new Map<string, number>();
  for (let step = 0; step < 2_000; step += 1) {
    const subject = `installation-${Math.floor(random() * 60)}`;
    const atMs = nowMs + (random() < 0.5 ? 0 : 120_000);
    assert.ok(activity.count(subjectOf(subject), atMs));
    const key = `${new Date(atMs).toISOString().slice(0, 10)} ${subject}`;
    expected.set(key, (expected.get(key) ?? 0) + 1);
    if (random() < 0.02) void activity.flush();
    if (random() < 0.05) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  activity.drain();
  while (activity.pending > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  activity.close();
  assert.deepEqual([...total(written)].sort(), [...expected].sort(), `seed ${testSeed}`);
});

test('what is told while the shard ends is written too', async () => {
  const written: ActivityCount[] = [];
  const activity = createActivity({
    async write(counts) {
      written.push(...counts);
    },
    limits: appLimits.activity,
    log: silent,
  });
  activity.drain();
  activity.count(subjectOf('late-installation'), nowMs);
  assert.equal(activity.pending, 1);
  while (activity.pending > 0) await new Promise((resolve) => setImmediate(resolve));
  activity.close();
  assert.equal(written.length, 1);
});

test('without a database the memory is bounded, and who is known is still counted', async () => {
  const limits = { ...appLimits.activity, pendingMax: 3 };
  const activity = createActivity({
    write: () => Promise.reject(new Error('the database is away')),
    limits,
    log: silent,
  });
  for (const name of ['first-one', 'second-one', 'third-one']) {
    assert.ok(activity.count(subjectOf(name), nowMs));
  }
  assert.ok(!activity.count(subjectOf('fourth-one'), nowMs));
  await activity.flush();
  assert.ok(activity.count(subjectOf('first-one'), nowMs));
  assert.ok(!activity.count(subjectOf('fourth-one'), nowMs));
  assert.equal(activity.pending, 3);
  activity.close();
});
