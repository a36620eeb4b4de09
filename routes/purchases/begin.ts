// Begins a purchase: the row with its credits and its price first, then the provider.
import { withDeadline } from '../../db/driver/sql.ts';
import {
  findPurchase,
  insertPurchase,
  type NewPurchase,
  type Purchase,
} from '../../db/purchases.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import { requireVerified } from '../identity/sign-in.ts';
import type { Services } from '../services.ts';
import { requireRate, requireStanding } from './allowed.ts';
import { findKnown, type PurchaseKey, purchaseKey } from './known.ts';
import { findSale, type Sale, type SaleRequest } from './sale.ts';

interface PurchaseRequest extends SaleRequest {
  save_payment_method: boolean;
  return_path: string;
}

/** The account that buys, and whether its person has proved the address. */
interface Buyer {
  accountId: string;
  walletId: string;
  isUnverified: boolean;
}

type Needed = Pick<Services, 'catalog' | 'payments' | 'sql' | 'system'>;
type Begun = { purchase: Purchase; isNew: boolean };

/**
 * The purchase as it is once its provider has answered.
 * @throws Problem forbidden, rate_limited, conflict, idempotency_key_reused, invalid_request,
 * dependency_unavailable
 */
export async function begin(
  services: Needed,
  caller: Buyer,
  request: PurchaseRequest,
  keyText: string | null,
): Promise<Begun> {
  const { sql } = services;
  const key = keyText === null ? null : purchaseKey(keyText, request);
  const known = key === null ? null : await findKnown(sql, caller, key);
  if (known !== null) return { purchase: await opened(services, known), isNew: false };
  requireVerified(caller);
  await requireStanding(sql, caller.accountId);
  const sale = findSale(services, request);
  await requireRate(services, caller.accountId);
  const purchase = newPurchase(services, caller, request, sale, key);
  if (!(await withDeadline(insertPurchase(sql, purchase)))) {
    const other = key === null ? null : await findKnown(sql, caller, key);
    if (other !== null) return { purchase: await opened(services, other), isNew: false };
    throw new Problem('conflict', { message: 'This package is given to an account once.' });
  }
  const made = await withDeadline(findPurchase(sql, purchase.id));
  if (made === null) throw new Problem('dependency_unavailable');
  return { purchase: await opened(services, made), isNew: true };
}

function newPurchase(
  { system, payments }: Needed,
  { accountId, walletId }: Buyer,
  request: PurchaseRequest,
  { sold, seller }: Sale,
  key: PurchaseKey | null,
): NewPurchase {
  const { limits } = payments;
  const now = Date.now();
  const isFree = seller === null;
  return {
    id: newId('pur', system.node),
    accountId,
    walletId,
    packageId: sold.slug,
    kind: isFree ? 'free' : 'checkout',
    provider: seller?.name ?? null,
    providerKind: seller?.account.kind ?? null,
    returnPath: request.return_path,
    savesPaymentMethod: request.save_payment_method,
    key,
    creditsMicros: sold.creditsMicros,
    priceCents: BigInt(sold.priceCents),
    currency: sold.currency,
    status: isFree ? 'paid' : 'created',
    expiresAt: isFree ? null : new Date(now + limits.openFor),
    nextLookAt: isFree ? null : new Date(now + (limits.lookAgesMs[0] ?? limits.retryMs)),
  };
}

/** The purchase once its checkout is open. @throws Problem dependency_unavailable, conflict */
async function opened({ sql, payments }: Needed, purchase: Purchase): Promise<Purchase> {
  const { id, status, kind } = purchase;
  const isToOpen = status === 'created' || (kind === 'free' && status === 'paid');
  if (!isToOpen) return purchase;
  const answer = await payments.desk().ask('open', { purchaseId: id }, payments.limits.askMs);
  const now = await withDeadline(findPurchase(sql, id));
  if (now !== null && answer.ok && answer.value.status === 'opened') return now;
  if (now?.status === 'failed') {
    throw new Problem('dependency_unavailable', {
      message: 'The payment provider refuses the purchase. Try another one.',
      details: { purchase_id: id },
    });
  }
  throw new Problem('dependency_unavailable', {
    message: 'The payment provider does not answer. Repeat it with the same Idempotency-Key.',
    details: { purchase_id: id },
    headers: { 'retry-after': '5' },
  });
}
