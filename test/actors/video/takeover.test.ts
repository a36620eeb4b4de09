// Two processes with one job. The first stands still at a step until its lease is over, the second
// takes the job, and the first goes on. All is made, stored and charged once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditBlobs } from '../../../actors/blobs/audit.ts';
import type { VideoDeps } from '../../../actors/video/deps.ts';
import { startRun } from '../../../actors/video/run.ts';
import { work } from '../../../actors/video/work.ts';
import { findVideoJob } from '../../../db/video-jobs.ts';
import { assertSubmittedOnce, submissionsOf } from '../../harness/video-jobs.ts';
import {
  Gate,
  type JobKind,
  openProcesses,
  type Place,
  type ProcessBed,
  places,
} from './process.ts';

// slow: It waits for leases to end in real time.

let bed: ProcessBed;
before(async () => {
  bed = await openProcesses();
});
after(async () => {
  if (bed === undefined) return;
  await bed.bank.assertBooks();
  await bed.close();
});

async function begin(deps: VideoDeps, id: string) {
  const run = await startRun(deps, id, { fromOthers: false });
  assert.ok(run !== null, 'nobody has it');
  return { run, done: work(run) };
}

async function rowOf(id: string) {
  const job = await findVideoJob(bed.bank.sql, null, id);
  assert.ok(job !== null);
  const { nowMs: _, ...row } = job;
  return row;
}

async function storedIds(): Promise<string[]> {
  const ids: string[] = [];
  for await (const blob of bed.blobs.list()) ids.push(blob.id);
  return ids.sort();
}

/** What the second of them makes of a submission whose reply the first one has. */
const afterReply: Record<JobKind['idempotency'], string> = {
  none: 'submission_unknown',
  list: 'succeeded',
  key: 'succeeded',
};

const kinds: readonly JobKind[] = [
  { family: 'google-veo', idempotency: 'none' },
  { family: 'openai-videos', idempotency: 'list' },
  { family: 'openai-videos', idempotency: 'key' },
];

/** `after`: the first goes on when all is over. `before`: while the second has just begun. */
async function takeOver(kind: JobKind, place: Place, order: 'after' | 'before'): Promise<void> {
  const before = await storedIds();
  const id = await bed.job(kind);
  const gate = new Gate(place);
  const first = await begin(bed.process(gate), id);
  await Promise.race([gate.reached, first.done]);
  await bed.bank.sql`UPDATE video_jobs SET lease_until = now() WHERE id = ${id}`;
  const stop = new Gate('before the settlement');
  const second = await begin(bed.process(order === 'before' ? stop : undefined), id);
  if (order === 'before') {
    await Promise.race([stop.reached, second.done]);
    const meanwhile = await rowOf(id);
    gate.letGo();
    await first.done;
    assert.deepEqual(await rowOf(id), meanwhile, 'who was replaced writes nothing');
    stop.letGo();
  }
  await second.done;
  const row = await rowOf(id);
  gate.letGo();
  await first.done;
  assert.deepEqual(await rowOf(id), row, 'who was replaced writes nothing');
  const expected = place === 'after the reply' ? afterReply[kind.idempotency] : 'succeeded';
  assert.equal(row.errorCode ?? row.status, expected);
  assert.equal(row.chargeMicros, row.status === 'succeeded' ? 300n : null);
  const stored = (await storedIds()).filter((blobId) => !before.includes(blobId));
  assert.deepEqual(stored, row.video === null ? [] : [row.video.blobId], 'one file');
  const seen = await submissionsOf(`http://127.0.0.1:${bed.sim.port}`);
  assertSubmittedOnce(seen);
  const made = seen.filter(
    ({ idempotency_key: key, outcome }) => key === id && outcome !== 'repeated',
  );
  assert.equal(made.length, 1);
}

for (const place of places) {
  test(`two processes, the first of which stands still ${place}`, async () => {
    const affected = place === 'after the reply' ? kinds : kinds.slice(0, 1);
    for (const kind of affected) await takeOver(kind, place, 'after');
    await takeOver({ family: 'xai-imagine', idempotency: 'none' }, place, 'before');
  });
}

test('a process that stops finishes its submission and leaves its jobs at once', async () => {
  const kinds: JobKind[] = [
    { family: 'google-veo', idempotency: 'none', directive: 'first_ms=400' },
    { family: 'xai-imagine', idempotency: 'none', directive: 'render_ms=1500' },
  ];
  const stopping = bed.process();
  const next = bed.process();
  for (const [kind, at] of [
    [kinds[0], 'submitting'],
    [kinds[1], 'running'],
  ] as const) {
    const id = await bed.job(kind ?? assert.fail());
    const { run, done } = await begin(stopping, id);
    while ((await rowOf(id)).status !== at) await sleep(10);
    run.stop();
    await done;
    assert.equal((await rowOf(id)).status, 'running');
    let taken = await startRun(next, id, { fromOthers: false });
    for (let tries = 0; taken === null && tries < 20; tries += 1) {
      await sleep(10);
      taken = await startRun(next, id, { fromOthers: false });
    }
    await work(taken ?? assert.fail('it was not left'));
    assert.equal((await rowOf(id)).status, 'succeeded');
  }
  assertSubmittedOnce(await submissionsOf(`http://127.0.0.1:${bed.sim.port}`));
});

test('no object is there that no row names', async () => {
  const findings = await auditBlobs({
    sql: bed.bank.sql,
    blobs: bed.blobs,
    clock: Date.now,
    unnamedMsMax: -60_000,
    pageLength: 100,
    tellWrong: (line) => console.log(`# ${line}`),
    tellRule: () => undefined,
  });
  assert.deepEqual(
    findings.filter(({ broken }) => broken > 0),
    [],
  );
});
