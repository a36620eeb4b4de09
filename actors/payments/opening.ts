// Opens the checkout of a purchase at its provider. The row is there before. A lost answer is asked
// for under the same key, and nobody is charged for what we do not know.
import { findBilledPerson } from '../../db/accounts/person.ts';
import { findSettings } from '../../db/billing/settings.ts';
import { endUnpaid, noteOrder } from '../../db/purchases/moves.ts';
import type { Purchase, StoredCheckout } from '../../db/purchases.ts';
import { type Checkout, type CheckoutOrder, PaymentFault } from '../../media/payments/contract.ts';
import type { KnownProvider, PaymentDeps } from './deps.ts';

export type Opened = 'opened' | 'ended' | 'unavailable';

/** Opens it, or finds that it is: `ended` where its provider refuses it, or its time is over. */
export async function openCheckout(
  deps: PaymentDeps,
  purchase: Purchase,
  provider: KnownProvider,
): Promise<Opened> {
  const { sql, limits, log, metrics } = deps;
  const order = await orderOf(deps, purchase);
  try {
    const signal = AbortSignal.timeout(limits.callMs);
    const checkout = await provider.adapter.open(provider.account, order, signal);
    await noteOrder(sql, purchase.id, {
      orderId: checkout.orderId,
      checkout: storedCheckout(checkout, purchase),
      expiresAt: checkout.expiresAt,
    });
    return 'opened';
  } catch (error) {
    metrics.failed(provider.name);
    log.warn({ err: error, purchase: purchase.id, provider: provider.name }, 'no checkout');
    if (!isFinal(error)) return 'unavailable';
    await endUnpaid(sql, purchase.id, 'failed', 'provider_refused');
    return 'ended';
  }
}

/** A purchase without an order: its answer was lost, or it was never asked for. */
export async function reopen(
  deps: PaymentDeps,
  purchase: Purchase,
  provider: KnownProvider,
): Promise<Opened> {
  if (purchase.status !== 'created') return 'ended';
  const isOver = purchase.expiresAt !== null && purchase.expiresAt.getTime() <= deps.clock();
  if (!isOver && purchase.kind === 'checkout') return openCheckout(deps, purchase, provider);
  const mark = { purchaseId: purchase.id, installation: await deps.installation() };
  try {
    const signal = AbortSignal.timeout(deps.limits.callMs);
    const orderId = await provider.adapter.find(provider.account, mark, signal);
    if (orderId === null) {
      // What was charged may not be in its provider's lists yet.
      const ageMs = deps.clock() - purchase.createdAt.getTime();
      if (purchase.kind === 'auto' && ageMs < deps.limits.unknownForMs) return 'unavailable';
      await endUnpaid(deps.sql, purchase.id, 'expired', null);
      return 'ended';
    }
    await noteOrder(deps.sql, purchase.id, { orderId, checkout: null, expiresAt: null });
    return 'opened';
  } catch (error) {
    deps.log.warn({ err: error, purchase: purchase.id }, 'a purchase is looked for in vain');
    return 'unavailable';
  }
}

/** What a provider refuses it refuses again; what it may have done is asked for. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof PaymentFault && (error.kind === 'refused' || error.kind === 'misconfigured')
  );
}

async function orderOf(deps: PaymentDeps, purchase: Purchase): Promise<CheckoutOrder> {
  const { id: purchaseId, accountId, currency, packageId } = purchase;
  const person = await findBilledPerson(deps.sql, accountId);
  const { method } = await findSettings(deps.sql, accountId);
  const back = (result: 'paid' | 'cancelled') => {
    const url = new URL(deps.webUrl);
    // Resolved against the origin, `//name` would be another one.
    url.pathname = purchase.returnPath ?? '/account';
    url.searchParams.set('purchase_id', purchaseId);
    url.searchParams.set('result', result);
    return url.href;
  };
  return {
    purchaseId,
    installation: await deps.installation(),
    amountCents: Number(purchase.priceCents),
    currency,
    description: deps.packageName(packageId),
    email: person?.email ?? null,
    paidUrl: back('paid'),
    cancelledUrl: back('cancelled'),
    expiresAt: purchase.expiresAt ?? new Date(deps.clock() + deps.limits.openFor),
    customerId: method?.provider === purchase.provider ? method.customerId : null,
    savePaymentMethod: purchase.savesPaymentMethod,
  };
}

function storedCheckout(checkout: Checkout, purchase: Purchase): StoredCheckout {
  const expires_at = checkout.expiresAt.toISOString();
  if (checkout.type === 'redirect') return { type: 'redirect', url: checkout.url, expires_at };
  return {
    type: 'razorpay',
    key_id: checkout.keyId,
    order_id: checkout.orderId,
    amount: Number(purchase.priceCents),
    currency: purchase.currency,
    expires_at,
  };
}
