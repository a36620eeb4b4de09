// Limits change while two systems hold and settle, and one system is cut off. What is spent equals
// the books, and no limit that stands is passed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HoldRequest } from '../../../actors/wallet/protocol.ts';
import { recoverDead } from '../../../actors/wallet/recovery.ts';
import { registerInstance } from '../../../db/instances.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { type Bank, type Branch, openBank } from './bank.ts';
import {
  countersOf,
  fundedWallet,
  keyHold,
  limitOf,
  newKey,
  setLimit,
  settlement,
} from './limited-keys.ts';

let bank: Bank;
before(async () => {
  bank = await openBank();
  for (const id of ['i-left', 'i-dead']) await registerInstance(bank.sql, id, 60_000);
});
after(() => bank.close());

const random = createRandom(testSeed);
const below = (most: number) => Math.floor(random() * most);
const workers = 16;

async function ask(branch: Branch, walletId: string, hold: HoldRequest): Promise<boolean> {
  const answer = await branch.wallet(walletId).ask('hold', hold, 5_000);
  return answer.ok && answer.value.status === 'held';
}

/** Holds, and ends it in one of the ways; what is not answered is left to recovery. */
async function work(branch: Branch, walletId: string, keyId: string, instanceId: string) {
  const hold = keyHold(keyId, below(30));
  hold.owner.instanceId = instanceId;
  if (!(await ask(branch, walletId, hold))) return;
  const { holdId } = hold;
  const wallet = branch.wallet(walletId);
  if (below(3) === 0) {
    const most = { amountMicros: 20n, minimumMicros: 1n, expiresAtMs: hold.expiresAtMs };
    await wallet.ask('extend', { holdId, step: 1, ...most }, 5_000);
  }
  if (below(8) === 0) return;
  if (below(4) === 0) {
    await wallet.ask('release', { holdId, reason: 'failed', finish: null }, 5_000);
  } else await wallet.ask('settle', settlement(hold, below(45)), 5_000);
}

const periods = ['total', 'day', 'week', 'month'] as const;

test(`limits change while keys are used, and the books stay right (seed ${testSeed})`, async () => {
  const walletId = await fundedWallet(bank, 10_000_000n);
  const keys = await Promise.all([1, 2, 3].map(() => newKey(bank, walletId, limitOf(500))));
  const branches = [bank.branch(), bank.branch()];
  let running = true;
  const worked = Array.from({ length: workers }, async () => {
    while (running) {
      const branch = branches[below(2)];
      const keyId = keys[below(keys.length)];
      if (branch !== undefined) await work(branch, walletId, keyId ?? '', 'i-left');
    }
  });
  try {
    for (let change = 0; change < 60; change += 1) {
      const period = periods[below(4)] ?? 'total';
      const limit = below(4) === 0 ? null : limitOf(below(4_000), period);
      await setLimit(bank, keys[below(keys.length)] ?? '', limit);
      if (change % 20 === 10) await bank.assertBooks();
    }
  } finally {
    running = false;
    await Promise.all(worked);
  }
  await bank.assertBooks();
  assert.deepEqual(bank.errors, []);
});

test(`a process that is killed leaves right counters (seed ${testSeed})`, async () => {
  const walletId = await fundedWallet(bank, 10_000_000n);
  const keyId = await newKey(bank, walletId, limitOf(1_500));
  const dying = bank.branch();
  const worked = Array.from({ length: 200 }, () =>
    work(dying, walletId, keyId, 'i-dead').catch(() => undefined),
  );
  await new Promise((resolve) => setTimeout(resolve, 30 + below(60)));
  await dying.cut();
  await Promise.all(worked);
  const other = bank.branch();
  await recoverDead(bank.sql, {
    instanceId: 'i-left',
    others: 'none',
    previousInstanceIds: ['i-dead'],
    release: (id, request) => other.ask(id, 'release', request),
    settle: (id, request) => other.ask(id, 'settle', request),
  });
  const [counter] = await countersOf(bank, keyId);
  assert.ok(counter !== undefined && counter.held === 0, 'nothing is held for who is dead');
  assert.ok(counter.spent <= 1_500, `${counter.spent} of 1500`);
  await bank.assertBooks();
  const rest = 1_500 - counter.spent;
  assert.equal(await ask(other, walletId, keyHold(keyId, rest + 1)), false);
  assert.equal(await ask(other, walletId, keyHold(keyId, rest)), true);
});
