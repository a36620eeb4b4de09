// What became of a session, or of the intent of a charge without one.
import type Stripe from 'stripe';
import type {
  FactOfPayment,
  Payment,
  PaymentAccount,
  PaymentLook,
  SavedCard,
} from '../contract.ts';
import { markIn } from '../mark.ts';
import { askStripe } from './client.ts';
import { disputeState, refundFact } from './facts.ts';

type Intent = Stripe.PaymentIntent;
type Session = Stripe.Checkout.Session;

const factsMax = 100;

export async function lookAt(
  account: PaymentAccount,
  orderId: string,
  signal: AbortSignal,
): Promise<PaymentLook> {
  return askStripe(account, signal, async (client) => {
    if (orderId.startsWith('pi_')) {
      const intent = await client.paymentIntents.retrieve(orderId, { expand: ['latest_charge'] });
      return lookOf(null, intent, await factsOf(client, intent));
    }
    const session = await client.checkout.sessions.retrieve(orderId, {
      expand: ['payment_intent.latest_charge'],
    });
    const { payment_intent: found } = session;
    const intent = typeof found === 'object' ? (found ?? null) : null;
    return lookOf(session, intent, intent === null ? [] : await factsOf(client, intent));
  });
}

async function factsOf(client: Stripe, intent: Intent): Promise<FactOfPayment[]> {
  if (intent.status !== 'succeeded') return [];
  const asked = { payment_intent: intent.id, limit: factsMax };
  const [refunds, disputes] = await Promise.all([
    client.refunds.list(asked),
    client.disputes.list(asked),
  ]);
  const facts = disputes.data.map(
    (dispute): FactOfPayment => ({
      id: dispute.id,
      kind: 'dispute',
      state: disputeState(dispute.status),
      amountCents: dispute.amount,
      openedAt: new Date(dispute.created * 1_000),
      refundId: null,
    }),
  );
  return [...refunds.data.map(refundFact), ...facts];
}

/** Pure. Without a session the intent has the price itself. */
export function lookOf(
  session: Session | null,
  intent: Intent | null,
  facts: FactOfPayment[],
): PaymentLook {
  const taxCents = session?.total_details?.amount_tax ?? 0;
  const totalCents = session === null ? (intent?.amount ?? 0) : (session.amount_total ?? 0);
  const error = intent?.last_payment_error ?? null;
  return {
    mark: markIn(session === null ? intent?.metadata : session.metadata),
    amountCents: totalCents - taxCents,
    currency: session?.currency ?? intent?.currency ?? '',
    state: stateOf(session, intent),
    failureCode: error === null ? null : (error.decline_code ?? error.code ?? null),
    needsPerson: intent?.status === 'requires_action' || error?.code === 'authentication_required',
    payments: intent?.status === 'succeeded' ? [{ ...paymentOf(intent, facts), taxCents }] : [],
    toCapture: [],
  };
}

function stateOf(session: Session | null, intent: Intent | null): PaymentLook['state'] {
  const status = intent?.status;
  if (status === 'succeeded') return 'paid';
  if (status === 'processing' || status === 'requires_capture') return 'under_way';
  if (session === null) return status === 'canceled' ? 'closed' : 'declined';
  if (session.status === 'expired') return 'closed';
  // It is complete before a transfer arrives, and stays so where that fails.
  if (session.status === 'complete') return status === undefined ? 'under_way' : 'declined';
  return 'open';
}

function paymentOf(intent: Intent, facts: FactOfPayment[]): Payment {
  const { latest_charge: charge } = intent;
  const details =
    typeof charge === 'object' && charge !== null ? charge.payment_method_details : null;
  return {
    id: intent.id,
    amountCents: intent.amount_received,
    taxCents: 0,
    currency: intent.currency,
    purse: fingerprintIn(details),
    saved: savedCard(intent, details?.card ?? null),
    facts,
  };
}

/** Cards and bank accounts have one, each under the name of its kind. */
function fingerprintIn(details: Stripe.Charge.PaymentMethodDetails | null): string | null {
  if (details === null) return null;
  const kind = (details as unknown as Record<string, unknown>)[details.type];
  const { fingerprint } = (kind ?? {}) as { fingerprint?: unknown };
  return typeof fingerprint === 'string' ? `${details.type}:${fingerprint}` : null;
}

function savedCard(
  intent: Intent,
  card: Stripe.Charge.PaymentMethodDetails.Card | null,
): SavedCard | null {
  const idOf = (linked: string | { id: string } | null) =>
    typeof linked === 'string' ? linked : (linked?.id ?? null);
  const customerId = idOf(intent.customer);
  const paymentMethodId = idOf(intent.payment_method);
  if (intent.setup_future_usage !== 'off_session' || card === null) return null;
  if (customerId === null || paymentMethodId === null) return null;
  return { customerId, paymentMethodId, brand: card.brand ?? null, last4: card.last4 ?? null };
}
