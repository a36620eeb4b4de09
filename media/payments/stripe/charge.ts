// A charge of a saved card without a person: once under the purchase's id, and never one that waits
// for somebody.
import type Stripe from 'stripe';
import type { CardCharge, ChargeOutcome, PaymentAccount } from '../contract.ts';
import { markMembers } from '../mark.ts';
import { askStripe, causeOf, type StripeError } from './client.ts';

/** Issuers' words after which another try makes sense (docs.stripe.com/declines/codes). */
const softCodes: ReadonlySet<string> = new Set([
  'approve_with_id',
  'card_velocity_exceeded',
  'do_not_honor',
  'generic_decline',
  'insufficient_funds',
  'issuer_not_available',
  'processing_error',
  'reenter_transaction',
  'try_again_later',
  'withdrawal_count_limit_exceeded',
]);

const personCodes: ReadonlySet<string> = new Set([
  'authentication_required',
  'payment_intent_authentication_failure',
]);

export async function chargeCard(
  account: PaymentAccount,
  charge: CardCharge,
  signal: AbortSignal,
): Promise<ChargeOutcome> {
  const params: Stripe.PaymentIntentCreateParams = {
    amount: charge.amountCents,
    currency: charge.currency,
    customer: charge.card.customerId,
    payment_method: charge.card.paymentMethodId,
    description: charge.description,
    metadata: markMembers(charge),
    off_session: true,
    confirm: true,
    error_on_requires_action: true,
  };
  const options = { idempotencyKey: charge.purchaseId };
  try {
    const intent = await askStripe(account, signal, (client) =>
      client.paymentIntents.create(params, options),
    );
    return outcomeOf(intent);
  } catch (error) {
    const outcome = declineOf(causeOf(error));
    if (outcome === null) throw error;
    return outcome;
  }
}

function outcomeOf({ id: orderId, status }: Stripe.PaymentIntent): ChargeOutcome {
  if (status === 'succeeded') return { status: 'paid', orderId };
  if (status === 'requires_action') return { status: 'needs_person', orderId, code: status };
  if (status === 'requires_payment_method' || status === 'canceled') {
    return { status: 'declined', orderId, code: status };
  }
  return { status: 'under_way', orderId };
}

/** Null: it is no answer of the card's. */
function declineOf(error: StripeError | null): ChargeOutcome | null {
  if (error === null) return null;
  const { type, param, advice_code: advice, payment_intent: intent } = error;
  const code = error.decline_code ?? error.code ?? null;
  const orderId = intent?.id ?? null;
  if (type === 'StripeCardError') {
    if (personCodes.has(error.code ?? '') || personCodes.has(code ?? '')) {
      return { status: 'needs_person', orderId, code };
    }
    // What the issuer advises, else what its word usually means.
    const isSoft = advice ? advice === 'try_again_later' : softCodes.has(code ?? '');
    return { status: isSoft ? 'soft_declined' : 'declined', orderId, code };
  }
  // The card or the customer is gone.
  const isGone = param === 'payment_method' || param === 'customer';
  return type === 'StripeInvalidRequestError' && isGone
    ? { status: 'declined', orderId, code: code ?? 'card_gone' }
    : null;
}
