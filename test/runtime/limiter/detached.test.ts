// Requests that run on without their client are counted for their account. Half of the process's
// are one account's, whichever threads they are on. Nothing is left of what ended or died.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createLimiterBuffers, Limiter } from '../../../runtime/limiter.ts';
import { openChance } from '../../chaos/seed.ts';

const epochMs = 1_700_000_000_000;

test('threads that race for the places of an account get exactly half of all', async () => {
  const buffers = createLimiterBuffers(epochMs, 2, 101);
  const limiterUrl = new URL('../../../runtime/limiter.js', import.meta.url).href;
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const source = `
    const { workerData, parentPort } = require('node:worker_threads');
    import(workerData.limiterUrl).then(({ Limiter }) => {
      const { buffers, node, gate } = workerData;
      const limiter = new Limiter(buffers, node);
      Atomics.add(gate, 0, 1);
      while (Atomics.load(gate, 0) < 2);
      let opened = 0;
      for (let count = 0; count < 1000; count += 1) {
        if (typeof limiter.openDetached('acc_raced', ${epochMs}) === 'object') opened += 1;
      }
      parentPort.postMessage(opened);
    });`;
  const opened = await Promise.all(
    [1, 2].map(async (node) => {
      const workerData = { buffers, node, limiterUrl, gate };
      return (await once(new Worker(source, { eval: true, workerData }), 'message'))[0] as number;
    }),
  );
  assert.equal((opened[0] ?? 0) + (opened[1] ?? 0), 50);
  const main = new Limiter(buffers, 0);
  assert.deepEqual(
    [main.detachedRoom('acc_raced'), main.detachedRoom('acc_other')],
    ['account', 'free'],
  );
  main.forgetNode(1);
  assert.equal(main.detachedCount(), opened[1]);
});

test('what an account leaves beyond its share takes room from nobody else', () => {
  const limiter = new Limiter(createLimiterBuffers(epochMs, 1, 8), 1);
  const slots = Array.from({ length: 20 }, () => limiter.addDetached('acc_many', epochMs));
  assert.equal(limiter.detachedCount(), 20);
  assert.equal(limiter.openDetached('acc_many', epochMs), 'account');
  const others = Array.from({ length: 4 }, () => limiter.openDetached('acc_other', epochMs));
  assert.ok(others.every((taken) => typeof taken === 'object'));
  assert.equal(limiter.detachedRoom('acc_third'), 'process');
  assert.equal(limiter.openDetached('acc_third', epochMs), 'process');
  for (const slot of slots.slice(0, 16)) limiter.removeDetached(slot);
  assert.equal(limiter.detachedRoom('acc_third'), 'process', 'four and four are left');
  assert.equal(limiter.detachedRoom('acc_many'), 'account');
  for (const slot of slots.slice(16)) limiter.removeDetached(slot);
  assert.deepEqual([limiter.detachedRoom('acc_many'), limiter.detachedCount()], ['free', 4]);
});

test('a slot stays with its account while anything of it runs on', () => {
  const limiter = new Limiter(createLimiterBuffers(epochMs, 1, 2), 1);
  limiter.addDetached('acc_left', epochMs);
  let nowMs = epochMs;
  for (let round = 0; round < 5; round += 1) {
    nowMs += 200_000;
    for (let key = 0; key < 30_000; key += 1) limiter.slotOf(`key_${round}_${key}`, nowMs);
  }
  assert.equal(limiter.detachedRoom('acc_left'), 'account');
});

test('one of a single place may have it, and none of none', () => {
  const single = new Limiter(createLimiterBuffers(epochMs, 1, 1), 1);
  assert.equal(single.detachedRoom('acc_a'), 'free');
  single.addDetached('acc_a', epochMs);
  assert.equal(single.detachedRoom('acc_b'), 'process');
  const none = new Limiter(createLimiterBuffers(epochMs, 1, 0), 1);
  assert.equal(none.detachedRoom('acc_a'), 'process');
});

test('in any order of beginnings, ends and deaths the counts are those of what is left', () => {
  const chance = openChance('detached requests');
  const detachedMax = 12;
  const share = detachedMax / 2;
  const buffers = createLimiterBuffers(epochMs, 3, detachedMax);
  const nodes = [1, 2, 3] as const;
  const limiters = new Map(nodes.map((node) => [node, new Limiter(buffers, node)]));
  const main = new Limiter(buffers, 0);
  const accounts = ['acc_a', 'acc_b', 'acc_c', 'acc_d'] as const;
  let left: { node: number; account: string; slot: number }[] = [];
  const countOf = (account: string) => left.filter((each) => each.account === account).length;
  const counted = () =>
    accounts.reduce((sum, account) => sum + Math.min(share, countOf(account)), 0);
  for (let step = 0; step < 4_000; step += 1) {
    const node = chance.pick(nodes);
    const account = chance.pick(accounts);
    const limiter = limiters.get(node);
    assert.ok(limiter !== undefined);
    const act = chance.integer(0, 99);
    if (act < 30) left.push({ node, account, slot: limiter.addDetached(account, epochMs) });
    else if (act < 55) {
      const isFree = countOf(account) < share && counted() < detachedMax;
      const taken = limiter.openDetached(account, epochMs);
      assert.equal(typeof taken === 'object', isFree, `step ${step}`);
      if (typeof taken === 'object') left.push({ node, account, slot: taken.slot });
    } else if (act < 98) {
      const mine = left.find((each) => each.node === node);
      if (mine === undefined) continue;
      limiter.removeDetached(mine.slot);
      left = left.filter((each) => each !== mine);
    } else {
      main.forgetNode(node);
      left = left.filter((each) => each.node !== node);
    }
    assert.equal(main.detachedCount(), left.length, `step ${step}`);
    for (const each of accounts) {
      const full = counted() < detachedMax ? 'free' : 'process';
      assert.equal(main.detachedRoom(each), countOf(each) < share ? full : 'account');
    }
  }
});
