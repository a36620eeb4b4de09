// Work on a job while the world beside it changes. Keys are rotated, accounts are disabled, slots
// are full, a folder cannot be written, and a far side wishes for no pause.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { release } from '../../../actors/video/closing.ts';
import type { VideoDeps } from '../../../actors/video/deps.ts';
import { createVideoDesk } from '../../../actors/video/desk.ts';
import { createVideoJobKind } from '../../../actors/video/job.ts';
import { type Run, startRun } from '../../../actors/video/run.ts';
import { work } from '../../../actors/video/work.ts';
import { closePool } from '../../../db/driver/sql.ts';
import { findVideoJob } from '../../../db/video-jobs.ts';
import type { VideoReply } from '../../../media/providers/video/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { TransientSet } from '../../../runtime/transient.ts';
import { makeReadOnly, mountDisk } from '../../harness/disk.ts';
import { submissionsOf } from '../../harness/video-jobs.ts';
import { accountId } from '../wallet/bank.ts';
import { type JobKind, openProcesses, type ProcessBed } from './process.ts';

let bed: ProcessBed;
before(async () => {
  bed = await openProcesses();
});
after(async () => {
  if (bed === undefined) return;
  await bed.bank.assertBooks();
  await bed.close();
});

async function begin(deps: VideoDeps, id: string): Promise<{ run: Run; done: Promise<void> }> {
  const run = await startRun(deps, id, { fromOthers: false });
  assert.ok(run !== null, 'nobody has it');
  return { run, done: work(run) };
}

async function outcomeOf(id: string): Promise<string> {
  const job = await findVideoJob(bed.bank.sql, null, id);
  return job?.errorCode ?? job?.status ?? 'none';
}

async function stateOf(id: string, isThere: (status: string) => boolean): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    if (isThere(await outcomeOf(id))) return;
    await sleep(10);
  }
  assert.fail(`${id} is still ${await outcomeOf(id)}`);
}

async function madeFor(id: string): Promise<number> {
  const seen = await submissionsOf(`http://127.0.0.1:${bed.sim.port}`);
  return seen.filter(
    ({ idempotency_key: key, upstream_id: upstream, outcome }) =>
      key === id && upstream !== null && outcome !== 'repeated',
  ).length;
}

/** A provider with one slot, which a job has for ever. */
async function fullProvider(provider: string) {
  const kind: JobKind = { family: 'google-veo', idempotency: 'none', provider, jobsMax: 1 };
  const deps = bed.process();
  const blocking = await bed.job({ ...kind, directive: 'fault=never' });
  const blocker = await begin(deps, blocking);
  await stateOf(blocking, (status) => status === 'running');
  return {
    deps,
    kind,
    async free() {
      await release(blocker.run, { code: 'operator_failed' });
      blocker.run.lost();
      await blocker.done;
    },
  };
}

test('a refusal of the repetition says nothing of the first submission', async () => {
  const deps = bed.process();
  const first: JobKind = {
    family: 'openai-videos',
    idempotency: 'key',
    provider: 'rotated',
    directive: 'fault=cut_accepted',
  };
  const id = await bed.job(first, { family: 'xai-imagine', idempotency: 'none' });
  const found = bed.targets.get('rotated/model') ?? assert.fail();
  const { client } = deps;
  deps.client = {
    ...client,
    async run(call, options) {
      const result = await client.run(call, options);
      // Somebody mistypes the new key of the provider.
      found.target = { ...found.target, apiKey: 'mistyped' };
      return result;
    },
  };
  await (await begin(deps, id)).done;
  assert.equal(await outcomeOf(id), 'submission_unknown');
  assert.equal(await madeFor(id), 1);
});

test('an account that is disabled while its job waits for a slot submits nothing', async () => {
  const { deps, kind, free } = await fullProvider('crowded-1');
  const id = await bed.job(kind);
  const { done } = await begin(deps, id);
  await sleep(50);
  await bed.bank.sql`UPDATE accounts SET disabled_at = now() WHERE id = ${accountId}`;
  try {
    await free();
    await done;
  } finally {
    await bed.bank.sql`UPDATE accounts SET disabled_at = NULL WHERE id = ${accountId}`;
  }
  assert.equal(await outcomeOf(id), 'account_disabled');
  assert.equal(await madeFor(id), 0);
});

test('a job that waited for a slot goes to its provider with the key of that moment', async () => {
  const { deps, kind, free } = await fullProvider('crowded-2');
  const id = await bed.job(kind);
  const found = bed.targets.get('crowded-2/model') ?? assert.fail();
  found.target = { ...found.target, apiKey: 'old' };
  const waiting = await begin(deps, id);
  await sleep(50);
  found.target = { ...found.target, apiKey: 'secret' };
  await free();
  await waiting.done;
  assert.equal(await outcomeOf(id), 'succeeded');
});

test('a model that is disabled while a job waits for its slot is passed over', async () => {
  const { deps, kind, free } = await fullProvider('crowded-3');
  const full: JobKind = {
    family: 'xai-imagine',
    idempotency: 'none',
    provider: 'crowded-4',
    jobsMax: 0,
  };
  const id = await bed.job(kind, full);
  const { done } = await begin(deps, id);
  await sleep(50);
  const found = bed.targets.get('crowded-3/model') ?? assert.fail();
  found.enabled = false;
  const other = bed.targets.get('crowded-4/model') ?? assert.fail();
  other.target = { ...other.target, jobsMax: 1 };
  await free();
  await done;
  assert.equal(await outcomeOf(id), 'succeeded');
  const job = await findVideoJob(bed.bank.sql, null, id);
  assert.equal(job?.provider, 'crowded-4');
});

test('whoever waits in line for a slot does not wait beyond its own deadline', async () => {
  const { deps, kind, free } = await fullProvider('crowded-5');
  const ids = [await bed.job(kind), await bed.job(kind)];
  const slot = (id: string) => ({ id, epoch: 0, candidate: 0, provider: 'crowded-5', slotsMax: 1 });
  const patient = new AbortController();
  const first = deps.slots.inLine(slot(ids[0] ?? ''), patient.signal);
  const second = deps.slots.inLine(slot(ids[1] ?? ''), AbortSignal.timeout(50));
  assert.equal(await Promise.race([second, sleep(1_000, 'waits')]), 'full');
  patient.abort();
  assert.equal(await first, 'full');
  await free();
});

/** How often a provider is asked within a second, that asks for no pause itself. */
async function askedBy(method: 'GET' | 'POST'): Promise<number> {
  const deps = bed.process();
  const { client } = deps;
  let asked = 0;
  deps.client = {
    ...client,
    async run(call, options) {
      if (call.method !== method) return client.run(call, options);
      asked += 1;
      const reply: VideoReply = { status: 429, headers: { 'retry-after': '0' }, body: '{}' };
      return { reply };
    },
  };
  const id = await bed.job({
    family: 'xai-imagine',
    idempotency: 'none',
    provider: `no-${method}`,
  });
  const { run, done } = await begin(deps, id);
  await sleep(1_000);
  run.stop();
  await done;
  return asked;
}

test('a provider that wishes to be asked again at once is not asked without a pause', async () => {
  for (const method of ['GET', 'POST'] as const) {
    const asked = await askedBy(method);
    const most = 2_000 / bed.limits.slotMs;
    assert.ok(asked > 0 && asked <= most, `${method}: ${asked} times within a second`);
  }
});

test('a provider that is away while a file is fetched is waited for', async () => {
  const deps = bed.process();
  const { outbound } = deps;
  let away = 6;
  deps.outbound = {
    ...outbound,
    async fetch(...call) {
      away -= 1;
      if (away < 0) return outbound.fetch(...call);
      return { ok: false, reason: 'source_unreachable', message: 'It cannot be reached.' };
    },
  };
  const id = await bed.job({ family: 'xai-imagine', idempotency: 'none' });
  await (await begin(deps, id)).done;
  assert.equal(await outcomeOf(id), 'succeeded');
});

test('a folder that cannot be written ends a job as a full disk does', async (t) => {
  const deps = bed.process();
  const folder = await mountDisk(t);
  if (folder === null) return;
  await makeReadOnly(folder);
  deps.scratchFolder = folder;
  const id = await bed.job({ family: 'xai-imagine', idempotency: 'none' });
  await (await begin(deps, id)).done;
  assert.equal(await outcomeOf(id), 'storage_failed');
});

test('work that breaks is begun again after a pause, not at once', async () => {
  const deps = bed.process();
  deps.outbound = {
    ...deps.outbound,
    fetch: async () => {
      throw new Error('the test breaks it');
    },
  };
  const id = await bed.job({ family: 'xai-imagine', idempotency: 'none' });
  const kind = createVideoJobKind({
    ...deps,
    runs: new TransientSet(),
    tellEnded: (ended) => desk.ended(ended),
  });
  const system = createActorSystem({ node: 1, kinds: [kind], log: deps.log });
  const job = (of: string) => system.ref(kind, of);
  const desk = createVideoDesk({ add: () => undefined, job, limits: bed.limits });
  const stop = new AbortController();
  const seen = desk.see(id, stop.signal);
  await sleep(2_000);
  stop.abort();
  await assert.rejects(seen);
  await system.stop(1_000);
  const { epoch } = (await findVideoJob(bed.bank.sql, null, id)) ?? assert.fail();
  assert.ok(epoch > 1 && epoch < 2_000 / bed.limits.refusedMs, `begun ${epoch} times`);
});

test('a database that is away while a job is cancelled breaks no actor', async () => {
  const deps = bed.process();
  const kind = createVideoJobKind({
    ...deps,
    runs: new TransientSet(),
    tellEnded: () => undefined,
  });
  const system = createActorSystem({ node: 1, kinds: [kind], log: deps.log });
  const id = await bed.job({ family: 'xai-imagine', idempotency: 'none' });
  await closePool(deps.sql, 100);
  for (let round = 0; round < 6; round += 1) {
    const answer = await system.ref(kind, id).ask('cancel', null, 1_000);
    assert.deepEqual(answer, { ok: true, value: 'unavailable' }, `round ${round}`);
  }
  await system.stop(1_000);
});
