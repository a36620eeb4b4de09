// Refunds and disputes as facts: which of their states means what.
import type Stripe from 'stripe';
import type { FactOfPayment } from '../contract.ts';
import { idIn, membersOf } from '../pointer.ts';

export function refundFact(refund: Stripe.Refund): FactOfPayment & { kind: 'refund' } {
  return {
    id: refund.id,
    kind: 'refund',
    state: refundState(refund.status),
    amountCents: refund.amount,
    openedAt: new Date(refund.created * 1_000),
    refundId: idIn(membersOf(refund.metadata), 'refund_id'),
  };
}

/** One that waits for the customer's account is on its way. */
function refundState(status: string | null): 'pending' | 'succeeded' | 'failed' {
  if (status === 'succeeded') return 'succeeded';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'pending';
}

/**
 * Inquiries (`warning_…`) take no money. One that was closed, or prevented, or won, is over without
 * a loss. While an appeal runs the money is gone, as it is for what later versions bring.
 */
export function disputeState(status: string): 'inquiry' | 'open' | 'won' | 'lost' {
  switch (status) {
    case 'warning_needs_response':
    case 'warning_under_review':
      return 'inquiry';
    case 'warning_closed':
    case 'prevented':
    case 'won':
      return 'won';
    case 'lost':
      return 'lost';
    default:
      return 'open';
  }
}
