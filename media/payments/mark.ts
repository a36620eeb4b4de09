// Our mark on a provider's objects: which purchase, and of which installation, since two of them
// may share an account.
import type { PurchaseMark } from './contract.ts';
import { idIn, membersOf } from './pointer.ts';

/** As members of what a provider calls metadata or notes. */
export function markMembers({ purchaseId, installation }: PurchaseMark): Record<string, string> {
  return { purchase_id: purchaseId, installation };
}

/** Null: it says nothing of a purchase. */
export function markIn(marked: unknown): PurchaseMark | null {
  const members = membersOf(marked);
  const purchaseId = idIn(members, 'purchase_id');
  const installation = idIn(members, 'installation');
  return purchaseId === null || installation === null ? null : { purchaseId, installation };
}

export function isMarked(marked: unknown, { purchaseId, installation }: PurchaseMark): boolean {
  const mark = markIn(marked);
  return mark?.purchaseId === purchaseId && mark.installation === installation;
}
