// Purchases as administrators see them: with whose they are, and where their provider has them.
import * as v from 'valibot';
import type { Refund } from '../../../db/purchases/refunds.ts';
import type { Purchase } from '../../../db/purchases.ts';
import { amount } from '../../billing/amounts.ts';
import { exact, micros } from '../../billing/micros.ts';
import { purchaseBody, purchaseEntries } from '../../purchases/schema.ts';

const cents = v.pipe(v.number(), v.integer(), v.minValue(0));
const text = v.nullable(v.string());

export const adminPurchaseSchema = v.pipe(
  v.strictObject({
    ...purchaseEntries,
    account_id: v.string(),
    wallet_id: v.string(),
    provider_order_id: text,
    provider_payment_id: text,
    provider_code: text,
    paid_cents: v.nullable(cents),
    disputed_cents: cents,
    target_microcredits: micros,
    target_exact: exact,
    debt_microcredits: micros,
    debt_exact: exact,
    paid_at: text,
  }),
  v.title('AdminPurchase'),
);

export function adminPurchaseBody(purchase: Purchase): Record<string, unknown> {
  const { paidCents } = purchase;
  return {
    ...purchaseBody(purchase),
    account_id: purchase.accountId,
    wallet_id: purchase.walletId,
    provider_order_id: purchase.orderId,
    provider_payment_id: purchase.paymentId,
    provider_code: purchase.failureCode,
    paid_cents: paidCents === null ? null : Number(paidCents),
    disputed_cents: Number(purchase.disputedCents),
    ...amount('target', purchase.targetMicros),
    ...amount('debt', purchase.debtMicros),
    paid_at: purchase.paidAt?.toISOString() ?? null,
  };
}

export const refundSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    purchase_id: v.string(),
    operation_id: v.string(),
    amount_cents: cents,
    reason: v.string(),
    actor: v.string(),
    state: v.picklist(['reversing', 'submitted', 'succeeded', 'failed']),
    provider_refund_id: text,
    failure_code: text,
    created_at: v.string(),
    updated_at: v.string(),
  }),
  v.title('Refund'),
);

/** What the operation ids of refunds begin with: those of other money are their own. */
export const refundPrefix = 'refund.';

export function refundBody(refund: Refund): Record<string, unknown> {
  return {
    id: refund.id,
    purchase_id: refund.purchaseId,
    operation_id: refund.operationId.slice(refundPrefix.length),
    amount_cents: Number(refund.amountCents),
    reason: refund.reason,
    actor: refund.actor,
    state: refund.state,
    provider_refund_id: refund.providerRefundId,
    failure_code: refund.failureCode,
    created_at: refund.createdAt.toISOString(),
    updated_at: refund.updatedAt.toISOString(),
  };
}

/** A purchase with its refunds. */
export const purchaseDetailSchema = v.strictObject({
  ok: v.literal(true),
  purchase: adminPurchaseSchema,
  refunds: v.array(refundSchema),
});
