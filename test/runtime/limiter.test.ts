// The shared limiter: exact counts over several threads, given back when a node dies.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createLimiterBuffers, Limiter } from '../../runtime/limiter.ts';

const epochMs = 1_700_000_000_000;

test('a minute allows exactly the limit at once, then one more each interval', () => {
  const limiter = new Limiter(createLimiterBuffers(epochMs, 2, 1_000), 1);
  const slot = limiter.slotOf('key_a', epochMs);
  for (let count = 1; count <= 600; count += 1) {
    const decision = limiter.takeRequest(slot, 600, epochMs);
    assert.equal(decision.allowed, true, `request ${count}`);
    assert.equal(decision.state.remaining, 600 - count);
  }
  const refused = limiter.takeRequest(slot, 600, epochMs);
  assert.equal(refused.allowed, false);
  assert.deepEqual(refused, {
    allowed: false,
    state: { limit: 600, remaining: 0, resetSeconds: 60 },
    retryAfterSeconds: 1,
  });
  assert.equal(limiter.takeRequest(slot, 600, epochMs + 100).allowed, true);
  assert.equal(limiter.takeRequest(slot, 600, epochMs + 100).allowed, false);
});

test('a clock that is set back refuses nobody for as long as it was ahead', () => {
  const limiter = new Limiter(createLimiterBuffers(epochMs, 1, 1_000), 1);
  const slot = limiter.slotOf('key_a', epochMs);
  for (const limit of [1, 600]) {
    const aheadMs = epochMs + 3_600_000;
    while (limiter.takeRequest(slot, limit, aheadMs).allowed);
    assert.equal(limiter.takeRequest(slot, limit, aheadMs + 1).allowed, false);
    for (let count = 1; count <= limit; count += 1) {
      assert.equal(limiter.takeRequest(slot, limit, epochMs).allowed, true, `request ${count}`);
    }
    assert.equal(limiter.takeRequest(slot, limit, epochMs).allowed, false, 'the limit holds');
  }
});

test('keys do not share an allowance', () => {
  const limiter = new Limiter(createLimiterBuffers(epochMs, 2, 1_000), 1);
  const first = limiter.slotOf('key_a', epochMs);
  const second = limiter.slotOf('key_b', epochMs);
  assert.notEqual(first, second);
  assert.equal(limiter.takeRequest(first, 1, epochMs).allowed, true);
  assert.equal(limiter.takeRequest(first, 1, epochMs).allowed, false);
  assert.equal(limiter.takeRequest(second, 1, epochMs).allowed, true);
});

test('threads that race for 64 places get exactly 64; a dead node gives its own back', async () => {
  const buffers = createLimiterBuffers(epochMs, 2, 1_000);
  const limiterUrl = new URL('../../runtime/limiter.js', import.meta.url).href;
  const source = `
    const { workerData, parentPort } = require('node:worker_threads');
    import(workerData.limiterUrl).then(({ Limiter }) => {
      const limiter = new Limiter(workerData.buffers, workerData.node);
      const slot = limiter.slotOf('key_raced', ${epochMs});
      let opened = 0;
      for (let count = 0; count < 1000; count += 1) {
        if (limiter.open(slot, 64) !== null) opened += 1;
      }
      limiter.addDetached('acc_raced', ${epochMs});
      parentPort.postMessage(opened);
    });`;
  const workers = [1, 2].map(
    (node) => new Worker(source, { eval: true, workerData: { buffers, node, limiterUrl } }),
  );
  const opened = await Promise.all(
    workers.map(async (worker) => (await once(worker, 'message'))[0]),
  );
  assert.equal(opened[0] + opened[1], 64);
  const main = new Limiter(buffers, 0);
  const slot = main.slotOf('key_raced', epochMs);
  assert.equal(main.openCount(slot), 64);
  assert.equal(main.detachedCount(), 2);
  main.forgetNode(1);
  assert.equal(main.openCount(slot), opened[1]);
  assert.equal(main.detachedCount(), 1);
});

test('each of 255 shards gives back its own and nobody else’s', () => {
  const buffers = createLimiterBuffers(epochMs, 255, 1_000);
  const limiters = [1, 65, 129, 255].map((node) => new Limiter(buffers, node));
  const main = new Limiter(buffers, 0);
  const slot = main.slotOf('key_shared', epochMs);
  for (const limiter of limiters) {
    limiter.open(slot, 64);
    limiter.addDetached('acc_shared', epochMs);
  }
  main.forgetNode(65);
  assert.deepEqual([main.openCount(slot), main.detachedCount()], [3, 3]);
  main.forgetNode(255);
  assert.deepEqual([main.openCount(slot), main.detachedCount()], [2, 2]);
  assert.throws(() => new Limiter(buffers, 256), /tally of its own/);
});

test('threads that see keys for the first time in the same moment give each one slot', async () => {
  const buffers = createLimiterBuffers(epochMs, 2, 1_000);
  const limiterUrl = new URL('../../runtime/limiter.js', import.meta.url).href;
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const source = `
    const { workerData, parentPort } = require('node:worker_threads');
    import(workerData.limiterUrl).then(({ Limiter }) => {
      const { buffers, node, gate } = workerData;
      const limiter = new Limiter(buffers, node);
      Atomics.add(gate, 0, 1);
      while (Atomics.load(gate, 0) < 2);
      const slots = [];
      for (let key = 0; key < 30000; key += 1) slots.push(limiter.slotOf('key_' + key, ${epochMs}));
      parentPort.postMessage(slots);
    });`;
  const [first, second] = await Promise.all(
    [1, 2].map(async (node) => {
      const workerData = { buffers, node, limiterUrl, gate };
      return (await once(new Worker(source, { eval: true, workerData }), 'message'))[0];
    }),
  );
  assert.deepEqual(first, second);
});

test('slots that nobody used lately are given to other keys, those in use never', () => {
  const limiter = new Limiter(createLimiterBuffers(epochMs, 2, 1_000), 1);
  const open = limiter.slotOf('key_open', epochMs);
  limiter.open(open, 1);
  const used = limiter.slotOf('key_used', epochMs);
  let nowMs = epochMs;
  for (let round = 0; round < 5; round += 1) {
    nowMs += 110_000;
    limiter.takeRequest(used, 600, nowMs);
    const others = new Set<number>();
    for (let key = 0; key < 30_000; key += 1) {
      others.add(limiter.slotOf(`key_${round}_${key}`, nowMs));
    }
    assert.ok(others.size > 29_900, `round ${round}: ${others.size} slots of 30,000 keys`);
    assert.ok(!others.has(open) && !others.has(used));
    nowMs += 110_000;
    limiter.takeRequest(used, 600, nowMs);
  }
  assert.equal(limiter.slotOf('key_open', nowMs), open);
  assert.equal(limiter.slotOf('key_used', nowMs), used);
  limiter.close(open);
  assert.equal(limiter.openCount(open), 0);
});
