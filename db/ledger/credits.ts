// Rows that say that credits are given: they move in the statement that gives them. A new kind is
// one line of `partByKind`, and its part in a file of its own, as `purchases.ts` has that of
// purchases. Its rows are `CreditedRow`s: `rows: (write) => ownedRows(write, NAME)`.
import assert from 'node:assert/strict';
import type { Part } from './part.ts';
import { codesPart, referralsPart, rewardsPart } from './promotions.ts';
import { purchaseStepsPart, purchasesPart } from './purchases.ts';

export type CreditKind = 'purchase' | 'code' | 'referral' | 'reward';

/** What a grant says of its owner: it is credited, once, with this. */
export interface CreditedRow {
  id: string;
  grantId: string;
  amountMicros: bigint;
}

/** The parts whose rows say so. `grant` adds a row to the part of its owner's kind. */
const partByKind: ReadonlyMap<CreditKind, Part> = new Map<CreditKind, Part>([
  ['purchase', purchasesPart],
  ['code', codesPart],
  ['referral', referralsPart],
  ['reward', rewardsPart],
]);

/** Behind those of the ledger itself, and before those of holders. */
export const creditParts: readonly Part[] = [...partByKind.values(), purchaseStepsPart];

/** The name of the part of a kind; a kind that nobody declared is a bug. */
export function creditPartOf(kind: CreditKind): string {
  const part = partByKind.get(kind);
  assert.ok(part !== undefined, `no owner of credits of the kind ${kind} is declared`);
  return part.name;
}
