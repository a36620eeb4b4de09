// Real shard threads: messages between all nodes, a shard that goes and comes back, drain and stop.
import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { sleep } from '../actor/kinds.ts';
import { eventually, startCluster } from './cluster.ts';
import { doormanKind, keeperKind, lodgerKind } from './worker.ts';

test('tell and ask cross threads in order, in every direction, with exact values', async (t) => {
  const cluster = await startCluster(t, 2);
  const { system } = cluster;
  for (const node of [1, 2]) {
    const keeper = cluster.keeperOn(node);
    assert.deepEqual(await keeper.ask('where', null, 30_000), { ok: true, value: node });
    for (let i = 0; i < 5_000; i += 1) assert(keeper.tell('add', i));
    const list = await keeper.ask('list', null, 30_000);
    assert.deepEqual(list, { ok: true, value: Array.from({ length: 5_000 }, (_, i) => i) });
    // From one shard to the other, and to itself.
    for (const other of [1, 2]) {
      const answer = await keeper.ask('askPeer', cluster.keeperOn(other, 'peer').id, 30_000);
      assert.deepEqual(answer, {
        ok: true,
        value: { from: node, answered: { ok: true, value: other } },
      });
    }
  }
  const everything = {
    amount: -(2n ** 60n) - 1n,
    bytes: Buffer.from([1, 2, 3]),
    at: new Date(5),
    maybe: null,
    absent: undefined,
    list: [{ n: 1 }, { n: 2 }],
  };
  const echoed = await cluster.keeperOn(1).ask('everything', everything, 30_000);
  assert.deepEqual(echoed, { ok: true, value: everything });
  const doorman = await system.ref(doormanKind, 'd').ask('where', null, 30_000);
  assert.deepEqual(doorman, { ok: true, value: 0 });
});

test('an address reaches a local actor elsewhere; its bound and end are answers', async (t) => {
  const cluster = await startCluster(t, 1);
  const address = await cluster.controlOf(1).ask('spawnLocal', 'l', 30_000);
  assert(address.ok);
  const lodger = cluster.system.at(lodgerKind, address.value);
  assert.deepEqual(await lodger.ask('add', 2, 30_000), { ok: true, value: 2 });
  const many = Array.from({ length: 10 }, () => lodger.ask('add', 1, 30_000));
  const answers = await Promise.all(many);
  assert.equal(answers.filter((each) => each.ok).length, 6, 'one runs, five wait');
  assert(answers.every((each) => each.ok || each.reason === 'overloaded'));
  await lodger.ask('leave', null, 30_000);
  assert.deepEqual(await lodger.ask('add', 1, 30_000), { ok: false, reason: 'stopped' });
});

test('crashes, deadlines and unsendable values of another thread are answers', async (t) => {
  const cluster = await startCluster(t, 1);
  const keeper = cluster.keeperOn(1);
  const crash = await keeper.ask('crash', null, 30_000);
  assert.deepEqual(crash, { ok: false, reason: 'actor_crashed' });
  const slow = await keeper.ask('wait', 1_500, 30);
  assert.deepEqual(slow, { ok: false, reason: 'timeout' });
  const unsendable = keeper.ask('echo', { bad: Symbol('x'), fresh: { shape: true } }, 30_000);
  const besideIt = keeper.ask('echo', { fine: { shape: true } }, 30_000);
  assert.deepEqual(await unsendable, { ok: false, reason: 'unreachable' });
  assert.deepEqual(await besideIt, { ok: true, value: { fine: { shape: true } } });
  const badReply = await keeper.ask('unsendable', null, 30_000);
  assert.deepEqual(badReply, { ok: false, reason: 'actor_crashed' });
  const again = await keeper.ask('echo', { fine: { shape: false } }, 30_000);
  assert.deepEqual(again, { ok: true, value: { fine: { shape: false } } });
});

test('a stuck shard gets no more than the bound, and takes more once it reads again', async (t) => {
  const cluster = await startCluster(t, 1);
  const keeper = cluster.keeperOn(1);
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-stuck-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'go-on');
  cluster.controlOf(1).tell('blockUntil', path);
  await sleep(30);
  const payload = new Uint8Array(2 ** 20);
  let accepted = 0;
  while (accepted < 200 && keeper.tell('echo', payload)) {
    accepted += 1;
    await sleep(0);
  }
  assert(accepted >= 60 && accepted <= 70, `${accepted} MiB were accepted`);
  assert.deepEqual(await keeper.ask('where', null, 100), { ok: false, reason: 'overloaded' });
  await writeFile(path, '');
  await eventually(() => keeper.tell('echo', 1), 'the shard reads again');
  assert.deepEqual(await keeper.ask('where', null, 30_000), { ok: true, value: 1 });
});

test('a shard that exits: asks are unreachable, ids move, the node comes back', async (t) => {
  // Late, so that what holds while it is away can be looked at.
  const late = { starts: new SharedArrayBuffer(4), from: 2, ms: 2_500 };
  const whileGone: unknown[] = [];
  const onEnded = () => whileGone.push(lodger.tell('add', 1), lodger.ask('add', 1, 30_000));
  const cluster = await startCluster(t, 2, { late }, { onEnded });
  const keeper = cluster.keeperOn(1);
  const onTwo = cluster.keeperOn(2);
  await keeper.ask('add', 1, 30_000);
  const pending = keeper.ask('wait', 5_000, 10_000);
  const lodger = cluster.system.at(lodgerKind, { node: 1, kind: lodgerKind.name, id: 'none' });
  const watch = startStopwatch();
  cluster.controlOf(1).tell('exit', 1);
  assert.deepEqual(await pending, { ok: false, reason: 'unreachable' });
  await eventually(() => whileGone.length === 2, 'the thread is gone');
  const gone = [false, { ok: false, reason: 'unreachable' }];
  assert.deepEqual(await Promise.all(whileGone), gone);
  assert.deepEqual(await onTwo.ask('where', null, 30_000), { ok: true, value: 2 });
  await eventually(() => !cluster.mesh.liveShards.includes(1), 'shard 1 left');
  assert.deepEqual(await keeper.ask('where', null, 30_000), { ok: true, value: 2 }, 'it moved');
  await eventually(() => cluster.mesh.liveShards.includes(1), 'shard 1 is back');
  watch.assertWithin(2_000 + late.ms, 'it is back');
  assert.deepEqual(await keeper.ask('where', null, 30_000), { ok: true, value: 1 }, 'it is back');
  assert.deepEqual(await keeper.ask('list', null, 30_000), { ok: true, value: [] });
  assert.deepEqual(await lodger.ask('add', 1, 30_000), { ok: false, reason: 'stopped' });
  // The other shard has the new link as well.
  const throughTwo = await onTwo.ask('askPeer', keeper.id, 30_000);
  assert.deepEqual(throughTwo, {
    ok: true,
    value: { from: 2, answered: { ok: true, value: 1 } },
  });
  assert.deepEqual(cluster.threads.status()[0], { node: 1, status: 'ready', restarts: 1 });
});

test('an error that escapes to a shard without an app ends only that shard', async (t) => {
  const cluster = await startCluster(t, 2);
  cluster.controlOf(2).tell('fall', null);
  await eventually(() => cluster.threads.status()[1]?.restarts === 1, 'it was replaced');
  await eventually(() => cluster.mesh.liveShards.length === 2, 'both are live');
  assert.deepEqual(await cluster.keeperOn(2).ask('where', null, 30_000), { ok: true, value: 2 });
  const failure = cluster.log.lines.find((line) => line.text === 'shard thread failed');
  assert.match(String(failure?.details.err), /the shard falls/);
});

test('a failing shard leaves placement before it ends', async (t) => {
  const cluster = await startCluster(t, 2, {}, { failingTimeoutMs: 60_000 });
  const keeper = cluster.keeperOn(1);
  cluster.controlOf(1).tell('fail', 3_000);
  await eventually(() => !cluster.mesh.liveShards.includes(1), 'it left placement');
  assert.equal(cluster.threads.status()[0]?.status, 'failing');
  assert.deepEqual(await keeper.ask('where', null, 30_000), { ok: true, value: 2 });
  await eventually(() => cluster.mesh.liveShards.includes(1), 'it is back');
});

test('a shard that cannot be kept alive is given up', async (t) => {
  const cluster = await startCluster(t, 1, {}, { restartsMax: 1, restartsWithinMs: 120_000 });
  for (let round = 0; round < 2; round += 1) {
    await eventually(() => cluster.mesh.liveShards.includes(1), 'it is live');
    cluster.controlOf(1).tell('exit', 1);
    await eventually(() => !cluster.mesh.liveShards.includes(1), 'it left');
  }
  await eventually(() => cluster.givenUp.length === 1, 'it is given up');
  assert.deepEqual(cluster.givenUp, [1]);
  const unreachable = await cluster.system.ref(keeperKind, 'any').ask('where', null, 30_000);
  assert.deepEqual(unreachable, { ok: false, reason: 'unreachable' });
});

test('a start that fails or takes too long is an error, with no thread left', async (t) => {
  await assert.rejects(startCluster(t, 2, { exitAtStart: true }), /ended before it was ready/);
  const never = startCluster(t, 1, { neverReady: true }, { readyTimeoutMs: 400 });
  await assert.rejects(never, /ended before it was ready/);
});

test('stop lets every shard drain, and forces one that takes too long', async (t) => {
  const drained = new SharedArrayBuffer(4);
  const gentle = await startCluster(t, 2, { drained });
  const waiting = gentle.keeperOn(1).ask('wait', 40, 30_000);
  const stopping = gentle.threads.stop(60_000);
  assert.deepEqual(await waiting, { ok: true, value: null });
  await sleep(20);
  assert(!gentle.threads.status().some((each) => each.status === 'down'), 'they drain');
  Atomics.store(new Int32Array(drained), 0, 1);
  await stopping;
  assert(gentle.threads.status().every((each) => each.status === 'down'));
  assert.deepEqual(gentle.log.lines, []);

  const stubborn = await startCluster(t, 1, { drained: new SharedArrayBuffer(4) });
  const stoppedAt = performance.now();
  await stubborn.threads.stop(100);
  assert(performance.now() - stoppedAt < 30_000, 'it did not wait for the drain');
  assert.equal(stubborn.log.lines.at(-1)?.text, 'shard thread is terminated: it did not drain');
  await sleep(0);
});
