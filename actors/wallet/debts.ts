// What reversals could not take: debt of purchases, which other purchases pay. Pure. With it stands
// what a write changes of a purchase: one row, as a statement cannot change it twice.
import assert from 'node:assert/strict';
import type { PurchaseChange } from '../../db/ledger/purchases.ts';
import { lesser, type Wallet } from './funds.ts';

/** What all purchases of the wallet owe. */
export function openDebt({ debts }: Wallet): bigint {
  return debts.reduce((sum, { micros }) => sum + micros, 0n);
}

/** More debt of a purchase. */
export function addDebt(wallet: Wallet, purchaseId: string, micros: bigint): void {
  if (micros === 0n) return;
  const { debts } = wallet;
  const own = debts.find((debt) => debt.purchaseId === purchaseId);
  if (own === undefined) {
    const index = debts.findIndex((debt) => debt.purchaseId > purchaseId);
    debts.splice(index === -1 ? debts.length : index, 0, { purchaseId, micros });
  } else own.micros += micros;
  changeOf(wallet, purchaseId).debtMicros += micros;
}

/** Pays debt, that of this purchase first, then the oldest first; returns how much that was. */
export function payDebt(wallet: Wallet, amountMicros: bigint, purchaseId: string | null): bigint {
  const isOwn = (debt: Wallet['debts'][number]) => debt.purchaseId === purchaseId;
  const inTurn = [...wallet.debts.filter(isOwn), ...wallet.debts.filter((debt) => !isOwn(debt))];
  let left = amountMicros;
  for (const debt of inTurn) {
    const micros = lesser(debt.micros, left);
    if (micros === 0n) continue;
    debt.micros -= micros;
    changeOf(wallet, debt.purchaseId).debtMicros -= micros;
    left -= micros;
  }
  const open = wallet.debts.filter(({ micros }) => micros > 0n);
  wallet.debts.splice(0, wallet.debts.length, ...open);
  assert.ok(left >= 0n, 'no more is paid than there is');
  return amountMicros - left;
}

/** What the next write changes of a purchase. */
export function changeOf(wallet: Wallet, purchaseId: string): PurchaseChange {
  const { owned } = wallet.changes;
  const known = owned.get<PurchaseChange>('purchases', purchaseId);
  if (known !== undefined) return known;
  const change = { id: purchaseId, isCredited: false, reversedMicros: 0n, debtMicros: 0n };
  owned.set('purchases', purchaseId, change);
  return change;
}
