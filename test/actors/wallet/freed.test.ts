// What others free while it is not looked at: holds that outlive their process, and keys that a
// wallet's memory has for taken.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import { type Release, recoverDead, type Settle } from '../../../actors/wallet/recovery.ts';
import { findGeneration } from '../../../db/generations.ts';
import { registerInstance } from '../../../db/instances.ts';
import { accountId, type Bank, type Branch, claimingHold, openBank, purchase } from './bank.ts';

let bank: Bank;
let branch: Branch;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
});
after(() => bank.close());

async function funded(amountMicros: bigint): Promise<string> {
  const walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', purchase(amountMicros));
  return walletId;
}

const log = { warn: () => {}, error: () => {} };

test('a hold that outlives its process is ended after it was cleared up', async () => {
  const walletId = await funded(1_000n);
  const direct = createDirectWallet({
    sql: bank.database.pool('ledger', 2),
    clock: bank.clock.nowMs,
    limits: walletLimits,
    log,
  });
  for (const id of ['i-gone', 'i-just', 'i-here']) await registerInstance(bank.sql, id, 60_000);
  const options = {
    instanceId: 'i-here',
    others: 'none' as const,
    previousInstanceIds: ['i-gone', 'i-just'],
    release: ((id, request) => direct(id, 'release', request)) satisfies Release,
    settle: ((id, request) => direct(id, 'settle', request)) satisfies Settle,
  };
  await recoverDead(bank.sql, options);
  // Their last statements waited for a lock in the server, which does not look whether they live.
  const owned = (instanceId: string) => {
    const hold = claimingHold(10n, instanceId);
    return { ...hold, owner: { ...hold.owner, instanceId } };
  };
  const [gone, just] = [owned('i-gone'), owned('i-just')];
  for (const hold of [gone, just]) await branch.ask(walletId, 'hold', hold);
  await bank.sql`UPDATE instances SET ended_at = now() - interval '1 hour' WHERE id = 'i-gone'`;
  assert.equal((await recoverDead(bank.sql, { ...options, previousInstanceIds: [] })).holds, 1);
  assert.equal((await findGeneration(bank.sql, accountId, gone.owner.id))?.status, 'failed');
  assert.equal(
    (await findGeneration(bank.sql, accountId, just.owner.id))?.status,
    'running',
    'who was taken for dead a moment ago may announce itself anew',
  );
  // Asked of a process that knows of neither.
  assert.equal((await bank.branch().ask(walletId, 'hold', owned('i-gone'))).status, 'held');
});

test('a key that others have freed is free, also where it was in use when last seen', async () => {
  const walletId = await funded(1_000n);
  const hold = claimingHold(100n, 'freed');
  await branch.ask(walletId, 'hold', hold);
  // As reconciliation does for a lost shard, and recovery for a process that was taken for dead.
  const release = { holdId: hold.holdId, reason: 'recovered', finish: null } as const;
  assert.equal((await bank.branch().ask(walletId, 'release', release)).status, 'released');
  const again = claimingHold(100n, 'freed');
  assert.equal((await branch.ask(walletId, 'hold', again)).status, 'held');
  const third = await branch.ask(walletId, 'hold', claimingHold(100n, 'freed'));
  assert.deepEqual(third, { status: 'duplicate', generationId: again.owner.id });
});

test('after all that the books are right', async () => {
  await bank.assertBooks();
});
