// Rows of analyses: bounds hold for makers that race, accounts take turns, and an epoch that is
// over writes nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Sql } from '../../db/driver/sql.ts';
import {
  endLateAnalyses,
  endVideoAnalysis,
  forgetAnalyses,
  leaveVideoAnalyses,
  listLeftAnalyses,
  noteSource,
  renewVideoAnalyses,
  setAsideNext,
  takeVideoAnalysis,
} from '../../db/video-analyses/moves.ts';
import {
  createVideoAnalysis,
  findVideoAnalysis,
  type NewVideoAnalysis,
} from '../../db/video-analyses.ts';
import { newId } from '../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';

const hourMs = 3_600_000;
const leaseMs = 60_000;
const bounds = { openMax: 5, queuedMax: 40, keyKeptMs: 24 * hourMs };
const failed = { status: 'failed', errorCode: 'internal', errorMessage: 'x' } as const;
let database: TestDatabase;
let sql: Sql;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 8);
});
after(() => database.close());

function asked(accountId: string, requestId = newId('req', 0)): NewVideoAnalysis {
  return {
    id: newId('va', 0),
    accountId,
    walletId: 'wal_x',
    apiKeyId: null,
    requestId,
    fingerprint: 'f',
    sourceUrl: 'http://a.example/x.mp4',
    videoId: null,
    model: 'm',
    prompt: 'a\u0000b',
    startSeconds: 0.1,
    endSeconds: null,
    framesMax: 16,
  };
}

const make = (analysis: NewVideoAnalysis, more = {}) =>
  createVideoAnalysis(sql, analysis, { ...bounds, ...more });

async function empty(): Promise<void> {
  await sql`DELETE FROM video_analyses`;
}

/** Sets one aside and takes it. */
async function begin() {
  const next = await setAsideNext(sql, leaseMs);
  assert.ok(next !== null);
  const taken = await takeVideoAnalysis(sql, next, leaseMs);
  assert.ok(taken !== null);
  return taken;
}

test('twenty at once on room for five, and ten with one key, make five and one', async () => {
  await empty();
  const many = await Promise.all(Array.from({ length: 20 }, () => make(asked('acc_many'))));
  assert.equal(many.filter(({ status }) => status === 'made').length, 5);
  assert.equal(many.filter(({ status }) => status === 'too_many').length, 15);
  const same = await Promise.all(Array.from({ length: 10 }, () => make(asked('acc_same', 'key'))));
  assert.equal(same.filter(({ status }) => status === 'made').length, 1);
  assert.equal(same.filter(({ status }) => status === 'found').length, 9);
  const full = await make(asked('acc_other'), { queuedMax: 6 });
  assert.equal(full.status, 'full');
  const [found] = same.flatMap((each) => ('analysis' in each ? [each.analysis] : []));
  assert.equal(found?.prompt, 'a\u0000b', 'any character');
  assert.equal(found?.startSeconds, 0.1);
});

test('accounts take turns, whoever was first and however many one has', async () => {
  await empty();
  for (let index = 0; index < 4; index += 1) await make(asked('acc_a'));
  for (let index = 0; index < 2; index += 1) await make(asked('acc_b'));
  await make(asked('acc_c'));
  const turns: string[] = [];
  for (;;) {
    const next = await setAsideNext(sql, leaseMs);
    if (next === null) break;
    const taken = await takeVideoAnalysis(sql, next, leaseMs);
    turns.push(taken?.accountId.slice(-1) ?? '');
  }
  assert.equal(turns.join(''), 'abcabaa');
});

test('what races for the next one gets another', async () => {
  await empty();
  for (const account of ['acc_1', 'acc_2', 'acc_3', 'acc_4', 'acc_5']) await make(asked(account));
  const taken = await Promise.all(Array.from({ length: 8 }, () => setAsideNext(sql, leaseMs)));
  const ids = taken.flatMap((each) => (each === null ? [] : [each.id]));
  assert.equal(new Set(ids).size, 5);
  assert.equal(taken.filter((each) => each === null).length, 3);
});

test('an epoch that is over writes nothing, and what it did not see goes on', async () => {
  await empty();
  await make(asked('acc_e'));
  const first = await begin();
  assert.deepEqual([first.status, first.epoch, first.progress], ['running', 1, 1]);
  assert.equal(await setAsideNext(sql, leaseMs), null, 'somebody has it');
  await leaveVideoAnalyses(sql, [first]);
  const second = await begin();
  assert.equal(second.id, first.id);
  assert.equal(second.runningMs, first.runningMs, 'its time goes on');
  assert.equal(await noteSource(sql, first, '{}', 50), false);
  assert.equal(await endVideoAnalysis(sql, first, failed, null), false);
  assert.equal(await takeVideoAnalysis(sql, { id: first.id, epoch: 0 }, leaseMs), null);
  const renewed = await renewVideoAnalyses(
    sql,
    [
      { ...first, progress: 90 },
      { ...second, progress: 20 },
    ],
    leaseMs,
  );
  assert.equal(renewed.size, 1);
  await renewVideoAnalyses(sql, [{ ...second, progress: 5 }], leaseMs);
  assert.equal((await findVideoAnalysis(sql, 'acc_e', first.id))?.progress, 20, 'it never falls');
  const end = { status: 'completed', resultJson: '{"summary":"\\u0000"}' } as const;
  assert.equal(await endVideoAnalysis(sql, second, end, '{}'), true);
  assert.equal(await endVideoAnalysis(sql, second, failed, null), false, 'nothing leaves an end');
  const over = await findVideoAnalysis(sql, 'acc_e', first.id);
  assert.deepEqual([over?.status, over?.progress], ['completed', 100]);
  assert.equal(await findVideoAnalysis(sql, 'acc_f', first.id), null);
});

test('what failed for nothing frees its key, what was charged keeps it', async () => {
  await empty();
  const first = await make(asked('acc_k', 'key'));
  await endVideoAnalysis(sql, await begin(), failed, null);
  const second = await make(asked('acc_k', 'key'));
  assert.deepEqual([first.status, second.status], ['made', 'made']);
  await endVideoAnalysis(sql, await begin(), failed, '{}');
  assert.equal((await make(asked('acc_k', 'key'))).status, 'found');
  await sql`UPDATE video_analyses SET created_at = now() - interval '25 hours'`;
  assert.equal((await make(asked('acc_k', 'key'))).status, 'made');
});

test('who waited too long fails, who is left is found, who is old is forgotten', async () => {
  await empty();
  const late = { code: 'queue_timeout', message: 'late' };
  await make(asked('acc_l', 'key'));
  assert.equal(await endLateAnalyses(sql, hourMs, late), 0);
  assert.equal((await listLeftAnalyses(sql, 0, 10)).length, 1);
  assert.equal((await listLeftAnalyses(sql, hourMs, 10)).length, 0);
  const taken = await begin();
  assert.equal((await listLeftAnalyses(sql, 0, 10)).length, 0);
  assert.equal(await endLateAnalyses(sql, 0, late), 0, 'it has its turn');
  await endVideoAnalysis(sql, taken, failed, '{}');
  await make(asked('acc_l', 'other'));
  const next = await setAsideNext(sql, leaseMs);
  assert.equal(await endLateAnalyses(sql, 0, late), 1);
  assert.equal(await takeVideoAnalysis(sql, next ?? taken, leaseMs), null);
  assert.equal(await forgetAnalyses(sql, hourMs, 10), 0);
  assert.equal(await forgetAnalyses(sql, 0, 10), 2);
});
