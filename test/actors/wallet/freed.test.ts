// What others free while it is not looked at: holds that outlive their process, and keys that a
// wallet's memory has for taken.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bank, type Branch, claimingHold, openBank, purchase } from './bank.ts';

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
