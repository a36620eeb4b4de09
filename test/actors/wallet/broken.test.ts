// A wallet that cannot be cleared up, whatever broke it: the holds of all others are ended all the
// same, so that a process starts and sweeps.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import type { HoldRequest } from '../../../actors/wallet/protocol.ts';
import { endsThrough, recoverDead } from '../../../actors/wallet/recovery.ts';
import { sweepOnce } from '../../../actors/wallet/sweep.ts';
import { registerInstance } from '../../../db/instances.ts';
import { type Bank, type Branch, holdOf, openBank, purchase } from './bank.ts';

let bank: Bank;
let branch: Branch;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
});
after(() => bank.close());

const mostMicros = BigInt(Number.MAX_SAFE_INTEGER);

async function held(instanceId: string, fundsMicros: bigint, expiresAtMs?: number) {
  const walletId = await bank.newWallet();
  await branch.ask(walletId, 'grant', purchase(fundsMicros));
  const plain = holdOf(10n);
  const hold: HoldRequest = {
    ...plain,
    owner: { ...plain.owner, instanceId },
    expiresAtMs: expiresAtMs ?? plain.expiresAtMs,
  };
  assert.equal((await branch.ask(walletId, 'hold', hold)).status, 'held');
  return walletId;
}

/** What goes back is more than a wallet may have: by hand, since no operation makes such a one. */
async function overfill(walletId: string): Promise<void> {
  await bank.sql`UPDATE wallets SET wallet_micros = wallet_micros + 10,
    purchase_micros = purchase_micros - 10 WHERE id = ${walletId}`;
}

async function holdsOf(walletIds: string[]): Promise<string[]> {
  const rows = await bank.sql<{ wallet_id: string }[]>`
    SELECT wallet_id FROM holds WHERE NOT expired AND wallet_id = ANY (${walletIds}::text[])`;
  return rows.map((row) => row.wallet_id);
}

function cleaner() {
  const errors: object[] = [];
  const log = { warn: () => {}, error: (fields: object) => void errors.push(fields) };
  const sql = bank.database.pool('ledger', 2);
  const direct = createDirectWallet({ sql, clock: bank.clock.nowMs, limits: walletLimits, log });
  return { ends: endsThrough(direct, log), errors };
}

const recover = ({ ends }: ReturnType<typeof cleaner>) =>
  recoverDead(bank.sql, { instanceId: 'i-new', others: 'all', ...ends });

test('one that cannot be cleared up keeps no process from starting', async () => {
  await registerInstance(bank.sql, 'i-new', 60_000);
  await registerInstance(bank.sql, 'i-dead', 60_000);
  const wallets = [
    await held('i-dead', 100n),
    await held('i-dead', mostMicros),
    await held('i-dead', 100n),
  ];
  const [first = '', broken = '', last = ''] = wallets;
  await overfill(broken);
  const cleaning = cleaner();
  assert.deepEqual(await recover(cleaning), { instances: 1, holds: 2, complete: false });
  assert.deepEqual(await holdsOf([first, broken, last]), [broken]);
  assert.ok(cleaning.errors.some((fields) => 'wallet' in fields && fields.wallet === broken));
  // Mended by whoever can: the next round finishes.
  await branch.ask(broken, 'hold', holdOf(10n));
  assert.deepEqual(await recover(cleaner()), { instances: 1, holds: 1, complete: true });
});

test('a hold that stays although it was ended is tried once a round', async () => {
  await registerInstance(bank.sql, 'i-stray', 60_000);
  const walletId = await held('i-stray', 100n);
  await bank.sql`UPDATE holds SET wallet_id = 'wal_of_nobody' WHERE wallet_id = ${walletId}`;
  assert.equal((await recover(cleaner())).holds, 1);
  await bank.sql`UPDATE holds SET wallet_id = ${walletId} WHERE wallet_id = 'wal_of_nobody'`;
  await bank.sql`UPDATE instances SET ended_at = now() - interval '1 hour' WHERE id = 'i-stray'`;
  assert.equal((await recover(cleaner())).holds, 1);
  assert.deepEqual(await holdsOf([walletId]), []);
});

test('one that cannot be swept keeps the holds of no other', async () => {
  const past = Date.now() - 60_000;
  const broken = await held('i-new', mostMicros, past);
  const other = await held('i-new', 100n, past + 1_000);
  await overfill(broken);
  const swept = await sweepOnce(bank.sql, {
    clock: Date.now,
    instanceId: 'i-new',
    keyKeptMs: 1_000,
    ...cleaner().ends,
  });
  assert.equal(swept.releasedHolds, 1);
  assert.deepEqual(await holdsOf([broken, other]), [broken]);
});
