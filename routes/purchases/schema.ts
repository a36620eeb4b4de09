// The schemas of purchases as their owner reads them.
import * as v from 'valibot';
import type { Purchase } from '../../db/purchases.ts';
import { amount } from '../billing/amounts.ts';
import { exact, micros } from '../billing/micros.ts';

const moment = v.string();
const cents = v.pipe(v.number(), v.integer(), v.minValue(0));

export const purchaseEntries = {
  id: v.string(),
  package_id: v.string(),
  status: v.picklist(['pending', 'paid', 'completed', 'failed', 'expired', 'refunded']),
  kind: v.picklist(['checkout', 'auto', 'free']),
  provider: v.nullable(v.string()),
  credits_microcredits: micros,
  credits_exact: exact,
  price_cents: cents,
  tax_cents: cents,
  refunded_cents: cents,
  currency: v.string(),
  reversed_microcredits: micros,
  reversed_exact: exact,
  dispute: v.nullable(
    v.strictObject({
      state: v.picklist(['inquiry', 'open', 'won', 'lost']),
      opened_at: v.nullable(moment),
    }),
  ),
  invoice_number: v.nullable(v.string()),
  failure_code: v.nullable(v.string()),
  created_at: moment,
  completed_at: v.nullable(moment),
  expires_at: v.nullable(moment),
};

/** The path of one purchase. */
export const purchaseParams = v.strictObject({
  purchase_id: v.pipe(v.string(), v.regex(/^pur_[a-f0-9]{24}$/, 'expected the id of a purchase')),
});

export const purchaseSchema = v.strictObject(purchaseEntries);

export const checkoutSchema = v.variant('type', [
  v.strictObject({ type: v.literal('redirect'), url: v.string(), expires_at: moment }),
  v.strictObject({
    type: v.literal('razorpay'),
    key_id: v.string(),
    order_id: v.string(),
    amount: cents,
    currency: v.string(),
    expires_at: moment,
  }),
]);

/** Codes of providers are theirs: a client is told why in words of ours. */
const ownCodes = new Set(['declined', 'provider_refused', 'authentication_required']);

/** A purchase as its owner reads it. Minor units of the currency are called cents. */
export function purchaseBody(purchase: Purchase): Record<string, unknown> {
  const { status, disputeState, disputeOpenedAt, failureCode } = purchase;
  const dispute =
    disputeState === null
      ? null
      : { state: disputeState, opened_at: disputeOpenedAt?.toISOString() ?? null };
  return {
    id: purchase.id,
    package_id: purchase.packageId,
    status: status === 'created' ? 'pending' : status,
    kind: purchase.kind,
    provider: purchase.provider,
    ...amount('credits', purchase.creditsMicros),
    price_cents: Number(purchase.priceCents),
    tax_cents: Number(purchase.taxCents),
    refunded_cents: Number(purchase.refundedCents),
    currency: purchase.currency,
    ...amount('reversed', purchase.reversedMicros),
    dispute,
    invoice_number: purchase.invoiceNumber,
    failure_code: failureCode === null || ownCodes.has(failureCode) ? failureCode : 'declined',
    created_at: purchase.createdAt.toISOString(),
    completed_at: purchase.completedAt?.toISOString() ?? null,
    expires_at: purchase.expiresAt?.toISOString() ?? null,
  };
}
