// Stripe as a payment provider. Its package is loaded by whoever first asks it something: not for
// webhooks, and not for a test of the key.
import { callApi } from '../call.ts';
import { type PaymentAccount, type PaymentAdapter, PaymentFault } from '../contract.ts';
import { markIn } from '../mark.ts';
import { chargeCard } from './charge.ts';
import { closeOrder, findOrder, openCheckout } from './checkout.ts';
import { apiVersion, askStripe } from './client.ts';
import { listEvents } from './events.ts';
import { lookAt } from './look.ts';
import { sendRefund } from './refund.ts';
import { readStripeWebhook } from './webhook.ts';

export const stripeAdapter: PaymentAdapter = {
  kind: 'stripe',
  open: openCheckout,
  find: findOrder,
  look: lookAt,
  close: closeOrder,
  async capture(_account, { paymentId }) {
    throw new PaymentFault('refused', `nothing of ${paymentId} waits to be captured`);
  },
  charge: chargeCard,
  refund: sendRefund,
  orderOf,
  readWebhook: readStripeWebhook,
  lists: ['events'],
  list: (account, _list, since, signal) => listEvents(account, since, signal),
  checkProof: null,
  async test({ baseUrl, secretKey }, signal) {
    const headers = { authorization: `Bearer ${secretKey}`, 'stripe-version': apiVersion };
    await callApi({ method: 'GET', url: `${baseUrl}/v1/balance`, headers }, signal);
  },
};

/** A payment belongs to a session, or is a charge without one and its own order. */
async function orderOf(
  account: PaymentAccount,
  paymentId: string,
  signal: AbortSignal,
): Promise<string | null> {
  return askStripe(account, signal, async (client) => {
    const sessions = await client.checkout.sessions.list({ payment_intent: paymentId, limit: 1 });
    const [session] = sessions.data;
    if (session !== undefined) return session.id;
    const intent = await client.paymentIntents.retrieve(paymentId);
    return markIn(intent.metadata) === null ? null : intent.id;
  });
}
