// What a client's idempotency key named before.
import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import { findKeyedPurchase, type NewPurchase, type Purchase } from '../../db/purchases.ts';
import { Problem } from '../../runtime/problem.ts';
import { fingerprint } from '../generations/idempotency.ts';

export type PurchaseKey = NonNullable<NewPurchase['key']>;

/** What the key named before. @throws Problem idempotency_key_reused for another request */
export async function findKnown(
  sql: Sql,
  { accountId }: { accountId: string },
  key: PurchaseKey,
): Promise<Purchase | null> {
  const finding = sql.begin(async (transaction) => ({
    found: await findKeyedPurchase(transaction, accountId, key.text),
  }));
  const { found } = await withDeadline(finding);
  if (found === null) return null;
  if (found.fingerprint?.equals(key.fingerprint) !== true) {
    throw new Problem('idempotency_key_reused');
  }
  return found;
}

/** A key with the fingerprint of what is asked for under it. */
export function purchaseKey(text: string, request: object): PurchaseKey {
  return { text, fingerprint: Buffer.from(fingerprint({ ...request }), 'hex') };
}
