// A refund: sent once under its id, and looked for where its answer will not come under that.
import type Stripe from 'stripe';
import type { FactOfPayment, PaymentAccount, RefundOrder } from '../contract.ts';
import { askStripe, isSpentKey } from './client.ts';
import { refundFact } from './facts.ts';

const refundsMax = 100;

export async function sendRefund(
  account: PaymentAccount,
  order: RefundOrder,
  signal: AbortSignal,
): Promise<FactOfPayment & { kind: 'refund' }> {
  const { refundId, paymentId, amountCents } = order;
  const params: Stripe.RefundCreateParams = {
    payment_intent: paymentId,
    amount: amountCents,
    metadata: { refund_id: refundId },
  };
  try {
    const refund = await askStripe(account, signal, (client) =>
      client.refunds.create(params, { idempotencyKey: refundId }),
    );
    return refundFact(refund);
  } catch (error) {
    if (!isSpentKey(error)) throw error;
    const { data } = await askStripe(account, signal, (client) =>
      client.refunds.list({ payment_intent: paymentId, limit: refundsMax }),
    );
    const made = data.find(({ metadata }) => metadata?.refund_id === refundId);
    if (made === undefined) throw error;
    return refundFact(made);
  }
}
