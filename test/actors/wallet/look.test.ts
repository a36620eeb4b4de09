// A look at a wallet before dear work: memory answers it, whoever asks how often. Only a no is
// proved, and not again and again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bank, freshId, holdOf, openBank, purchase } from './bank.ts';

let bank: Bank;
before(async () => {
  bank = await openBank();
});
after(() => bank.close());

const look = (amountMicros: bigint) => ({ amountMicros });

test('a look follows what this process does to the wallet, without a hold of its own', async () => {
  const branch = bank.branch({ lookFreshMs: 60_000 });
  const walletId = await bank.newWallet();
  const empty = { status: 'ok', availableMicros: 0n, heldMicros: 0n };
  assert.deepEqual(await branch.ask(walletId, 'look', look(1n)), empty);
  await branch.ask(walletId, 'grant', purchase(1_000n));
  const full = { status: 'ok', availableMicros: 1_000n, heldMicros: 0n };
  assert.deepEqual(await branch.ask(walletId, 'look', look(1_000n)), full);
  const hold = holdOf(600n);
  await branch.ask(walletId, 'hold', hold);
  const less = { status: 'ok', availableMicros: 400n, heldMicros: 600n };
  assert.deepEqual(await branch.ask(walletId, 'look', look(401n)), less);
  await branch.ask(walletId, 'release', { holdId: hold.holdId, reason: 'failed', finish: null });
  assert.deepEqual(await branch.ask(walletId, 'look', look(1n)), full);
  await bank.assertBooks();
});

test('what another process granted is seen, once memory is not fresh', async () => {
  const other = bank.branch();
  const patient = bank.branch({ lookFreshMs: 60_000 });
  const prompt = bank.branch({ lookFreshMs: 0 });
  const walletId = await bank.newWallet();
  const ask = async (branch: typeof other) => {
    const reply = await branch.ask(walletId, 'look', look(1n));
    return reply.status === 'ok' ? reply.availableMicros : reply.status;
  };
  assert.deepEqual([await ask(patient), await ask(prompt)], [0n, 0n]);
  await other.ask(walletId, 'grant', purchase(5n));
  assert.equal(await ask(patient), 0n, 'looks do not read the database again and again');
  assert.equal(await ask(prompt), 5n);
});

test('a crowd of looks beside other operations gets an answer each', async () => {
  const branch = bank.branch({ lookFreshMs: 0 });
  const walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', purchase(1_000n));
  const asked = Array.from({ length: 200 }, (_, index) => {
    if (index % 4 === 0) return branch.ask(walletId, 'hold', holdOf(1n));
    return branch.ask(walletId, 'look', look(index % 2 === 0 ? 1n : 10_000n));
  });
  const replies = await Promise.all(asked);
  assert.ok(replies.every(({ status }) => status === 'ok' || status === 'held'));
  const end = await branch.ask(walletId, 'look', look(10_000n));
  assert.deepEqual(end, { status: 'ok', availableMicros: 950n, heldMicros: 50n });
  assert.deepEqual(bank.errors, []);
  await bank.assertBooks();
});

test('a wallet that is not there is not found', async () => {
  const reply = await bank.branch().ask(freshId('wal'), 'look', look(1n));
  assert.deepEqual(reply, { status: 'wallet_not_found' });
});
