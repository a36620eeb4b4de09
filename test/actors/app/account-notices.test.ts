// What a shard remembers of an account's notices: for a moment, until they change, and longer where
// the database is away.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAccountNotices } from '../../../actors/app/account-notices.ts';
import { createErrorWriter } from '../../../actors/app/error-writer.ts';
import { appLimits } from '../../../actors/app/limits.ts';
import type { ToldError } from '../../../db/app/errors.ts';

const limits = appLimits.accountNotices;

function openCache() {
  const state = { nowMs: 1_000, reads: 0, isAway: false, gate: Promise.resolve() };
  const cache = createAccountNotices({
    async read(accountId) {
      state.reads += 1;
      const number = state.reads;
      await state.gate;
      if (state.isAway) throw new Error('the database is away');
      return { notices: [], read: [`${accountId} ${number}`] };
    },
    clock: () => state.nowMs,
    limits,
  });
  const read = async () => (await cache.of('acc_a')).read[0];
  return { state, cache, read };
}

test('it is read once for a while, and anew when it changed', async () => {
  const { state, cache, read } = openCache();
  assert.equal(await read(), 'acc_a 1');
  state.nowMs += limits.freshMs - 1;
  assert.equal(await read(), 'acc_a 1');
  state.nowMs += 1;
  assert.equal(await read(), 'acc_a 2');
  cache.forget('acc_a');
  assert.equal(await read(), 'acc_a 3');
});

test('who asks at once is told by one reading, and not by one from before a change', async () => {
  const { state, cache, read } = openCache();
  let open = () => {};
  state.gate = new Promise((resolve) => {
    open = resolve;
  });
  const before = [read(), read()];
  cache.forget('acc_a');
  const after = read();
  open();
  assert.deepEqual(await Promise.all([...before, after]), ['acc_a 1', 'acc_a 1', 'acc_a 2']);
  assert.equal(await read(), 'acc_a 2');
});

test('without a database what is known is told, and not for ever', async () => {
  const { state, cache, read } = openCache();
  await read();
  state.isAway = true;
  cache.forget('acc_a');
  assert.equal(await read(), 'acc_a 1');
  state.nowMs += limits.staleMs;
  await assert.rejects(read);
  state.isAway = false;
  assert.equal(await read(), 'acc_a 4');
});

test('while one statement writes errors, the next has all that came', async () => {
  const batches: number[] = [];
  const failing = new Set([2]);
  const writer = createErrorWriter({
    async write(errors) {
      batches.push(errors.length);
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (failing.has(batches.length)) throw new Error('the database is away');
    },
    limits: { groupsMax: 10, batchMax: 4, pendingMax: 7 },
  });
  const told = Array.from({ length: 10 }, () => writer.put({} as ToldError));
  const ends = await Promise.allSettled(told);
  // One is being written, seven wait, and two find no room.
  assert.deepEqual(batches, [1, 4, 3]);
  const words = ends.map((end) => (end.status === 'fulfilled' ? String(end.value) : 'failed'));
  const failed = Array.from({ length: 4 }, () => 'failed');
  assert.deepEqual(words, ['true', ...failed, 'true', 'true', 'true', 'false', 'false']);
  assert.ok(await writer.put({} as ToldError));
});
