// A process that stands still, is taken for dead, and goes on: what it had begun is over by then,
// and perhaps run again under its idempotency key by another process on the same database.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  createWalletEngine,
  emptyMemory,
  type WalletEntry,
} from '../../../actors/wallet/engine.ts';
import { createLedgerAccess } from '../../../actors/wallet/ledger-access.ts';
import { ledgerLimits, walletLimits } from '../../../actors/wallet/limits.ts';
import type { HoldReply, HoldRequest, SettleRequest } from '../../../actors/wallet/protocol.ts';
import { type Release, recoverDead, type Settle } from '../../../actors/wallet/recovery.ts';
import { sweepOnce } from '../../../actors/wallet/sweep.ts';
import { findGeneration } from '../../../db/generations.ts';
import { registerInstance } from '../../../db/instances.ts';
import {
  accountId,
  type Bank,
  type Branch,
  claimingHold,
  freshId,
  openBank,
  purchase,
} from './bank.ts';

let bank: Bank;
/** Two processes; the first one stands still between two of its messages. */
let still: Branch;
let other: Branch;
before(async () => {
  bank = await openBank();
  still = bank.branch();
  other = bank.branch();
});
after(() => bank.close());

interface Begun {
  walletId: string;
  key: string;
  hold: HoldRequest;
}

function keyedHold(key: string, owner: string): HoldRequest {
  const hold = claimingHold(100n, key);
  return { ...hold, owner: { ...hold.owner, instanceId: owner } };
}

/** Holds in a process of its own instance, which stands still from then on. */
async function begin(): Promise<Begun & { instanceId: string }> {
  const walletId = await bank.newWallet();
  await still.ask(walletId, 'grant', purchase(1_000n));
  const key = freshId('key');
  const instanceId = freshId('ins');
  await registerInstance(bank.sql, instanceId, 0);
  const hold = keyedHold(key, instanceId);
  assert.equal((await still.ask(walletId, 'hold', hold)).status, 'held');
  return { walletId, key, hold, instanceId };
}

const release: Release = (id, request) => other.ask(id, 'release', request);
const settle: Settle = (id, request) => other.ask(id, 'settle', request);
const ends = { release, settle };

/** The other process finds its lease lapsed, and ends what it had begun. */
async function recover(instanceId: string): Promise<void> {
  const options = { instanceId: 'ins_other', others: 'lapsed' as const, ...ends };
  const { complete } = await recoverDead(bank.sql, options);
  assert.ok(complete);
  const [row] = await bank.sql`SELECT ended_at FROM instances WHERE id = ${instanceId}`;
  assert.notEqual(row?.ended_at, null);
}

function settlement({ holdId, owner }: HoldRequest, chargeMicros: bigint): SettleRequest {
  return {
    holdId,
    chargeMicros,
    providerCostMicros: 1n,
    keyed: true,
    finish: {
      kind: 'generation',
      id: owner.id,
      status: 'completed',
      answerJson: '{"answer":1}',
      usageJson: '{"input_tokens":1}',
      problemJson: null,
    },
  };
}

async function chargesOf({ walletId, key }: Begun) {
  const [row] = await bank.sql<{ charged: bigint; holder: string | null }[]>`
    SELECT (SELECT coalesce(sum(revenue_micros + provider_cost_micros), 0)::bigint FROM ledger
        WHERE wallet_id = ${walletId}) AS charged,
      (SELECT id FROM generations WHERE account_id = ${accountId}
        AND idempotency_key = ${key}) AS holder`;
  return row;
}

for (const isEnded of [false, true]) {
  const when = isEnded ? 'has been charged' : 'still runs';
  test(`a late settlement charges nothing where its key was run again and ${when}`, async () => {
    const begun = await begin();
    await recover(begun.instanceId);
    const again = keyedHold(begun.key, 'ins_other');
    assert.equal((await other.ask(begun.walletId, 'hold', again)).status, 'held');
    if (isEnded) await other.ask(begun.walletId, 'settle', settlement(again, 30n));
    const late = settlement(begun.hold, 50n);
    for (let times = 0; times < 2; times += 1) {
      assert.deepEqual(await still.ask(begun.walletId, 'settle', late), { status: 'superseded' });
    }
    if (!isEnded) await other.ask(begun.walletId, 'settle', settlement(again, 30n));
    assert.deepEqual(await chargesOf(begun), { charged: 30n, holder: again.owner.id });
    const lost = await findGeneration(bank.sql, accountId, begun.hold.owner.id);
    assert.deepEqual([lost?.status, lost?.chargeMicros], ['failed', null]);
    await bank.assertBooks();
  });
}

test('a late settlement is final where nobody ran its key again: then it is a replay', async () => {
  const begun = await begin();
  await recover(begun.instanceId);
  const settled = await still.ask(begun.walletId, 'settle', settlement(begun.hold, 50n));
  assert.equal(settled.status, 'settled');
  const again = await other.ask(begun.walletId, 'hold', keyedHold(begun.key, 'ins_other'));
  assert.deepEqual(again, { status: 'duplicate', generationId: begun.hold.owner.id });
  assert.deepEqual(await chargesOf(begun), { charged: 50n, holder: begun.hold.owner.id });
  await bank.assertBooks();
});

test('the same after the hold expired and was given up', async () => {
  const begun = await begin();
  await bank.sql`UPDATE instances SET ended_at = now() WHERE id = ${begun.instanceId}`;
  const { holdExpiryMs, abandonedAfterMs } = ledgerLimits;
  bank.clock.aheadMs += holdExpiryMs + abandonedAfterMs + 60_000;
  const touch = (id: string) => other.ask(id, 'balance', {});
  const { nowMs: clock } = bank.clock;
  const keyKeptMs = 86_400_000;
  const options = { clock, instanceId: 'ins_other', keyKeptMs, ...ends, touch };
  for (let pass = 0; pass < 2; pass += 1) await sweepOnce(bank.sql, options);
  const again = keyedHold(begun.key, 'ins_other');
  assert.equal((await other.ask(begun.walletId, 'hold', again)).status, 'held');
  const late = await still.ask(begun.walletId, 'settle', settlement(begun.hold, 50n));
  assert.deepEqual(late, { status: 'superseded' });
  await other.ask(begun.walletId, 'settle', settlement(again, 30n));
  assert.deepEqual(await chargesOf(begun), { charged: 30n, holder: again.owner.id });
});

test('a key is not taken from a generation that is settled while it is looked at', async () => {
  const begun = await begin();
  await recover(begun.instanceId);
  const log = { warn: () => {}, error: () => {} };
  const dependencies = { sql: bank.database.pool('ledger', 2), clock: Date.now, log };
  const ledgerAccess = createLedgerAccess({ ...dependencies, limits: walletLimits });
  // The process that stood still goes on between the look at the key's holder and the write.
  let looks = 0;
  const slow = {
    ...ledgerAccess,
    findHolders: async (...keys: Parameters<typeof ledgerAccess.findHolders>) => {
      const found = await ledgerAccess.findHolders(...keys);
      looks += 1;
      if (looks === 1) await still.ask(begun.walletId, 'settle', settlement(begun.hold, 50n));
      return found;
    },
  };
  const engine = createWalletEngine({ ...dependencies, limits: walletLimits }, slow);
  const told: HoldReply[] = [];
  const payload = keyedHold(begun.key, 'ins_other');
  const entry = { message: 'hold', payload, reply: (reply: HoldReply) => void told.push(reply) };
  await engine.run(emptyMemory(begun.walletId), [entry as unknown as WalletEntry]);
  assert.deepEqual(told, [{ status: 'duplicate', generationId: begun.hold.owner.id }]);
  assert.deepEqual(await chargesOf(begun), { charged: 50n, holder: begun.hold.owner.id });
  await bank.assertBooks();
});
