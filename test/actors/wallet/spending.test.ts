// Whose credits a hold spends when it was not made in one piece: promotions by earliest expiry
// before purchases, whatever was free when the hold began, was extended or was reduced. Pure.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noLegs, openWallet, takeWrite, type Wallet } from '../../../actors/wallet/funds.ts';
import { holders } from '../../../actors/wallet/holders.ts';
import {
  extend,
  grant,
  hold,
  nothingKnown,
  reduce,
  release,
  settle,
} from '../../../actors/wallet/ledger.ts';
import { claimingHold, freshId, holdOf, promotion, purchase } from './bank.ts';

const known = nothingKnown();
const nowMs = Date.now();
const laterMs = nowMs + 3_600_000;

/** A wallet with a promotion and a purchase of so much. */
function wallet(promoted: bigint, bought: bigint): Wallet {
  const row = { id: 'wal_0', version: 0n, balances: noLegs(), grants: [], debts: [], holds: [] };
  const made = openWallet(row, 1n, holders);
  grant(made, purchase(bought), known, nowMs);
  grant(made, promotion(promoted, laterMs), known, nowMs);
  takeWrite(made);
  return made;
}

/** What is left of the promotion and of the purchase. */
function left({ grants }: Wallet): [promoted: bigint, bought: bigint] {
  const remaining = (kind: string) =>
    grants.find((each) => each.kind === kind)?.remainingMicros ?? 0n;
  return [remaining('promotion'), remaining('purchase')];
}

function begin(made: Wallet, amountMicros: bigint): string {
  const request = holdOf(amountMicros);
  assert.equal(hold(made, request, known).status, 'held');
  return request.holdId;
}

function end(made: Wallet, holdId: string, chargeMicros: bigint): void {
  const request = { holdId, chargeMicros, providerCostMicros: 0n, finish: null };
  assert.equal(settle(made, request, known).status, 'settled');
}

/** What a session has used that owes nothing yet. */
function checkpoint() {
  return {
    id: freshId('vs'),
    usage: {
      inputSpeechTokens: 0,
      inputTextTokens: 0,
      outputSpeechTokens: 0,
      outputTextTokens: 0,
      searchCalls: 0,
    },
    dueMicros: 0n,
    dueProviderMicros: 0n,
  };
}

test('a hold that began on purchases spends the promotion that extended it first', () => {
  const made = wallet(60n, 100n);
  const other = begin(made, 60n);
  const holdId = begin(made, 40n);
  release(made, { holdId: other, reason: 'failed', finish: null }, nowMs);
  const step = { holdId, step: 1, amountMicros: 50n, minimumMicros: 1n, expiresAtMs: laterMs };
  assert.deepEqual(extend(made, step, known), { status: 'extended', addedMicros: 50n });
  end(made, holdId, 50n);
  assert.deepEqual(left(made), [10n, 100n]);
});

test('a hold that is reduced keeps what is spent first', () => {
  const made = wallet(60n, 100n);
  const holdId = begin(made, 100n);
  const request = { holdId, step: 1, keepMicros: 60n, checkpoint: checkpoint() };
  assert.equal(reduce(made, request).status, 'reduced');
  // What went back is free for others, and it is what was bought.
  const other = begin(made, 100n);
  end(made, other, 100n);
  assert.deepEqual(left(made), [60n, 0n]);
  end(made, holdId, 30n);
  assert.deepEqual(left(made), [30n, 0n]);
});

test('an older step changes nothing, and no step a hold that has expired', () => {
  const made = wallet(0n, 100n);
  const request = claimingHold(40n, null);
  assert.equal(hold(made, request, known).status, 'held');
  const { holdId, expiresAtMs } = request;
  const more = (step: number) =>
    extend(made, { holdId, step, amountMicros: 10n, minimumMicros: 1n, expiresAtMs }, known);
  const less = (step: number, keepMicros: bigint) =>
    reduce(made, { holdId, step, keepMicros, checkpoint: checkpoint() }).status;
  const held = () => made.balances.heldMicros;
  assert.deepEqual(more(2), { status: 'extended', addedMicros: 10n });
  assert.deepEqual(more(1), { status: 'hold_not_active' });
  assert.equal(less(1, 5n), 'reduced');
  assert.equal(held(), 50n);
  assert.equal(less(3, 20n), 'reduced');
  assert.equal(less(3, 5n), 'reduced');
  assert.deepEqual(more(3), { status: 'extended', addedMicros: 0n }, 'nothing came with it');
  assert.equal(held(), 20n);
  const expiring = { holdId, reason: 'expired', finish: null } as const;
  assert.equal(release(made, expiring, expiresAtMs).status, 'released');
  assert.deepEqual(more(4), { status: 'hold_not_active' });
  assert.equal(less(5, 0n), 'hold_not_active');
  assert.deepEqual([held(), made.balances.walletMicros], [0n, 100n]);
});

test('what is over the hold is taken in the same order, and the rest is a shortfall', () => {
  const made = wallet(60n, 100n);
  const holdId = begin(made, 10n);
  end(made, holdId, 90n);
  assert.deepEqual(left(made), [0n, 70n]);
  const last = begin(made, 20n);
  const request = { holdId: last, chargeMicros: 80n, providerCostMicros: 0n, finish: null };
  const reply = settle(made, request, known);
  assert.deepEqual(reply, { status: 'settled', chargedMicros: 80n, shortfallMicros: 10n });
  assert.deepEqual(made.balances.walletMicros, 0n);
  assert.deepEqual(made.balances.shortfallMicros, -10n);
});
