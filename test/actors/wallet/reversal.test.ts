// What is taken back of purchases and given back to them, without a database. Each operation has
// its legs, takes in its order, and says the same when it is repeated.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noLegs, openWallet, takeWrite, type Wallet } from '../../../actors/wallet/funds.ts';
import { holders } from '../../../actors/wallet/holders.ts';
import {
  balanceMicrosMax,
  grant,
  grantIdOf,
  hold,
  type Known,
  nothingKnown,
  operation,
  release,
} from '../../../actors/wallet/ledger.ts';
import { collect, restore, reverse } from '../../../actors/wallet/reversal.ts';
import type { WalletWrite } from '../../../db/ledger/write.ts';
import type { EntryRow } from '../../../db/wallets.ts';
import { holdOf } from './bank.ts';

/** A wallet, and what it has written: the journal, and its purchases. */
interface Scene {
  wallet: Wallet;
  known: Known;
  nowMs: number;
}

function scene(debts: [string, bigint][] = []): Scene {
  const owed = debts.reduce((sum, [, micros]) => sum + micros, 0n);
  const balances = { ...noLegs(), purchaseMicros: owed, shortfallMicros: -owed };
  const row = {
    id: 'wal_0',
    version: 0n,
    balances,
    grants: [],
    debts: debts.map(([purchaseId, micros]) => ({ purchaseId, micros })),
    holds: [],
  };
  return { wallet: openWallet(row, 1n, holders), known: nothingKnown(), nowMs: 1_000 };
}

/** Pays a purchase, or gives a promotion. */
function give(on: Scene, id: string, amountMicros: bigint): void {
  on.nowMs += 1;
  const isBought = id.startsWith('pur');
  const request = {
    operationId: isBought ? operation.paid(id) : id,
    kind: isBought ? ('purchase' as const) : ('promotion' as const),
    amountMicros,
    expiresAtMs: null,
    note: '',
    ...(isBought ? { owner: { kind: 'purchase' as const, id } } : {}),
  };
  assert.equal(grant(on.wallet, request, on.known, on.nowMs).status, 'granted');
}

function written({ wallet, known }: Scene): WalletWrite {
  const write = takeWrite(wallet);
  assert.ok(write !== null);
  for (const entry of write.entries) known.entries.set(entry.operationId, entry);
  return write;
}

/** The legs that are not zero. */
function legsOf({ legs }: EntryRow): Record<string, bigint> {
  return Object.fromEntries(Object.entries(legs).filter(([, micros]) => micros !== 0n));
}

const left = ({ wallet }: Scene) =>
  Object.fromEntries(wallet.grants.map((each) => [each.operationId, each.remainingMicros]));

const rev = (purchaseId: string, step: number, amountMicros: bigint) => ({
  purchaseId,
  step,
  amountMicros,
});

const takings: readonly [bigint, Record<string, bigint>, bigint][] = [
  [
    30n,
    { 'pur_1.paid': 70n, 'pur_2.paid': 100n, 'pur_3.paid': 100n, promo_1: 50n, promo_2: 50n },
    0n,
  ],
  [150n, { 'pur_2.paid': 100n, 'pur_3.paid': 50n, promo_1: 50n, promo_2: 50n }, 0n],
  [260n, { 'pur_2.paid': 40n, promo_1: 50n, promo_2: 50n }, 0n],
  [320n, { promo_1: 50n, promo_2: 30n }, 0n],
  [380n, { promo_1: 20n }, 0n],
  [450n, {}, 50n],
];

for (const [amount, remaining, debt] of takings) {
  test(`a reversal of ${amount} takes from its own, the newest others, promotions`, () => {
    const on = scene();
    for (const id of ['promo_1', 'pur_1', 'pur_2', 'promo_2', 'pur_3']) {
      give(on, id, id.startsWith('pur') ? 100n : 50n);
    }
    written(on);
    const reply = reverse(on.wallet, rev('pur_1', 1, amount), on.known);
    const takenMicros = amount - debt;
    assert.deepEqual(reply, { status: 'reversed', takenMicros, debtMicros: debt });
    assert.deepEqual(left(on), remaining);
    const write = written(on);
    const [entry] = write.entries;
    assert.ok(entry !== undefined);
    assert.deepEqual([entry.operationId, entry.kind], ['pur_1.rev.1', 'reverse']);
    const shortfall = debt === 0n ? {} : { shortfallMicros: -debt };
    const legs = { purchaseMicros: amount, walletMicros: -takenMicros, ...shortfall };
    assert.deepEqual(legsOf(entry), legs);
    const change = { id: 'pur_1', isCredited: false, reversedMicros: amount, debtMicros: debt };
    assert.deepEqual(write.owned.purchases, [change]);
    assert.deepEqual(write.owned.purchase_steps, [{ purchaseId: 'pur_1', step: 1 }]);
    assert.deepEqual(reverse(on.wallet, rev('pur_1', 1, amount), on.known), reply, 'repeated');
    assert.equal(takeWrite(on.wallet), null, 'and nothing is written');
  });
}

test('a reversal leaves what is held, and what comes back is not taken by itself', () => {
  const on = scene();
  give(on, 'pur_1', 100n);
  assert.equal(hold(on.wallet, holdOf(60n), on.known).status, 'held');
  const reply = reverse(on.wallet, rev('pur_1', 1, 100n), on.known);
  assert.deepEqual(reply, { status: 'reversed', takenMicros: 40n, debtMicros: 60n });
  assert.deepEqual(on.wallet.debts, [{ purchaseId: 'pur_1', micros: 60n }]);
  assert.deepEqual([on.wallet.balances.walletMicros, on.wallet.balances.heldMicros], [0n, 60n]);
});

test('what is restored of a purchase is taken first when it is reversed again', () => {
  const on = scene();
  give(on, 'pur_1', 100n);
  reverse(on.wallet, rev('pur_1', 1, 100n), on.known);
  assert.deepEqual(restore(on.wallet, rev('pur_1', 2, 100n), on.known, on.nowMs), {
    status: 'restored',
    recoveredMicros: 0n,
  });
  give(on, 'pur_2', 100n);
  assert.deepEqual(left(on), { 'pur_1.rev.2': 100n, 'pur_2.paid': 100n });
  reverse(on.wallet, rev('pur_1', 3, 40n), on.known);
  assert.deepEqual(left(on), { 'pur_1.rev.2': 60n, 'pur_2.paid': 100n });
  const [change] = written(on).owned.purchases as { reversedMicros: bigint }[];
  assert.equal(change?.reversedMicros, 40n, 'one row a purchase, with the sum of the batch');
});

const restorings: readonly [bigint, [string, bigint][], bigint][] = [
  [
    20n,
    [
      ['pur_1', 30n],
      ['pur_2', 10n],
      ['pur_3', 40n],
    ],
    0n,
  ],
  [
    50n,
    [
      ['pur_1', 10n],
      ['pur_3', 40n],
    ],
    0n,
  ],
  [60n, [['pur_3', 40n]], 0n],
  [100n, [], 0n],
  [130n, [], 30n],
];

for (const [amount, debts, given] of restorings) {
  test(`a restoration of ${amount} pays its own debt, the oldest others, then gives`, () => {
    const on = scene([
      ['pur_3', 40n],
      ['pur_2', 30n],
      ['pur_1', 30n],
    ]);
    const reply = restore(on.wallet, rev('pur_2', 4, amount), on.known, on.nowMs);
    const recoveredMicros = amount - given;
    assert.deepEqual(reply, { status: 'restored', recoveredMicros });
    assert.deepEqual(
      on.wallet.debts.map(({ purchaseId, micros }) => [purchaseId, micros]),
      debts,
    );
    const write = written(on);
    const [entry] = write.entries;
    assert.ok(entry !== undefined);
    const wallet = given === 0n ? {} : { walletMicros: given };
    const legs = { purchaseMicros: -amount, shortfallMicros: recoveredMicros, ...wallet };
    assert.deepEqual(legsOf(entry), legs);
    const made = write.newGrants.map((each) => [each.id, each.kind, each.amountMicros]);
    const id = grantIdOf('pur_2.rev.4');
    assert.deepEqual(made, given === 0n ? [] : [[id, 'purchase', given]]);
    assert.deepEqual(restore(on.wallet, rev('pur_2', 4, amount), on.known, on.nowMs), reply);
    assert.equal(takeWrite(on.wallet), null);
  });
}

const payings: readonly [bigint, bigint, [string, bigint][]][] = [
  [
    10n,
    0n,
    [
      ['pur_1', 20n],
      ['pur_2', 50n],
    ],
  ],
  [60n, 0n, [['pur_2', 20n]]],
  [80n, 0n, []],
  [100n, 20n, []],
];

for (const [amount, remaining, debts] of payings) {
  test(`a purchase of ${amount} pays debt before it is there`, () => {
    const on = scene([
      ['pur_1', 30n],
      ['pur_2', 50n],
    ]);
    give(on, 'pur_9', amount);
    const write = written(on);
    const [made] = write.newGrants;
    assert.deepEqual([made?.amountMicros, made?.remainingMicros], [amount, remaining]);
    const [entry] = write.entries;
    assert.ok(entry !== undefined);
    const wallet = remaining === 0n ? {} : { walletMicros: remaining };
    const legs = { purchaseMicros: -amount, shortfallMicros: amount - remaining, ...wallet };
    assert.deepEqual(legsOf(entry), legs);
    const owed = on.wallet.debts.map(({ purchaseId, micros }) => [purchaseId, micros]);
    assert.deepEqual(owed, debts);
    const changes = write.owned.purchases as { id: string; isCredited: boolean }[];
    assert.deepEqual(
      changes.filter(({ isCredited }) => isCredited).map(({ id }) => id),
      ['pur_9'],
    );
  });
}

test('a purchase that was reversed before it was credited pays its own debt first', () => {
  const on = scene([['pur_1', 30n]]);
  reverse(on.wallet, rev('pur_9', 1, 100n), on.known);
  give(on, 'pur_9', 100n);
  assert.deepEqual(on.wallet.debts, [{ purchaseId: 'pur_1', micros: 30n }]);
  const [change] = (written(on).owned.purchases ?? []) as object[];
  const sum = { id: 'pur_9', isCredited: true, reversedMicros: 100n, debtMicros: 0n };
  assert.deepEqual(change, sum, 'one row');
});

test('a promotion pays no debt, and none is collected of it', () => {
  const on = scene([['pur_1', 30n]]);
  give(on, 'promo_1', 100n);
  written(on);
  const reply = collect(on.wallet, { operationId: 'c1' }, on.known);
  assert.deepEqual(reply, { status: 'collected', collectedMicros: 0n });
  assert.equal(takeWrite(on.wallet), null, 'nothing leaves no entry');
  assert.deepEqual(left(on), { promo_1: 100n });
});

test('debt is collected once, of purchases alone, the oldest debt first', () => {
  const on = scene();
  give(on, 'pur_1', 100n);
  const held = [holdOf(60n), holdOf(40n)];
  for (const each of held) assert.equal(hold(on.wallet, each, on.known).status, 'held');
  reverse(on.wallet, rev('pur_2', 1, 40n), on.known);
  reverse(on.wallet, rev('pur_1', 1, 50n), on.known);
  give(on, 'promo_1', 100n);
  const back = { holdId: held[0]?.holdId ?? '', reason: 'failed' as const, finish: null };
  release(on.wallet, back, on.nowMs);
  written(on);
  const reply = collect(on.wallet, { operationId: 'c1' }, on.known);
  assert.deepEqual(reply, { status: 'collected', collectedMicros: 60n });
  assert.deepEqual(on.wallet.debts, [{ purchaseId: 'pur_2', micros: 30n }]);
  assert.deepEqual(left(on), { promo_1: 100n, 'pur_1.paid': 40n });
  const [entry] = written(on).entries;
  assert.ok(entry !== undefined);
  assert.deepEqual(legsOf(entry), { walletMicros: -60n, shortfallMicros: 60n });
  assert.deepEqual(collect(on.wallet, { operationId: 'c1' }, on.known), reply);
  assert.equal(takeWrite(on.wallet), null);
});

test('nothing is restored beyond what an amount can say', () => {
  const on = scene([['pur_1', 5n]]);
  give(on, 'pur_2', balanceMicrosMax);
  const full = rev('pur_2', 1, 11n);
  assert.deepEqual(restore(on.wallet, full, on.known, on.nowMs), { status: 'too_much' });
  on.wallet.debts.push({ purchaseId: 'pur_3', micros: 6n });
  const fits = restore(on.wallet, full, on.known, on.nowMs);
  assert.deepEqual(fits, { status: 'restored', recoveredMicros: 6n });
});
