// Checkout sessions: opened under the purchase's id, found again by its mark, expired.
import type Stripe from 'stripe';
import { timeOfId } from '../../../runtime/ids.ts';
import {
  type Checkout,
  type CheckoutOrder,
  type PaymentAccount,
  PaymentFault,
  type PurchaseMark,
} from '../contract.ts';
import { isMarked, markMembers } from '../mark.ts';
import { askStripe, isSpentKey } from './client.ts';

/** Clocks differ. */
const earlierMs = 5 * 60_000;
/** A purchase is looked for within this time of its own, whatever else is sold meanwhile. */
const searchedMs = 24 * 3_600_000;
const searchedMax = 2_000;

type SessionParams = Stripe.Checkout.SessionCreateParams;

export async function openCheckout(
  account: PaymentAccount,
  order: CheckoutOrder,
  signal: AbortSignal,
): Promise<Checkout> {
  const params = paramsOf(account, order);
  const options = { idempotencyKey: order.purchaseId };
  try {
    return checkoutOf(
      await askStripe(account, signal, (client) =>
        client.checkout.sessions.create(params, options),
      ),
    );
  } catch (error) {
    if (!isSpentKey(error)) throw error;
    const session = await findSession(account, order, signal);
    if (session === null) throw error;
    return checkoutOf(session);
  }
}

function paramsOf(account: PaymentAccount, order: CheckoutOrder): SessionParams {
  const { customerId, email, savePaymentMethod } = order;
  const metadata = markMembers(order);
  const payer: Partial<SessionParams> =
    customerId === null
      ? {
          ...(email === null ? {} : { customer_email: email }),
          ...(savePaymentMethod ? { customer_creation: 'always' } : {}),
        }
      : {
          customer: customerId,
          ...(account.automaticTax ? { customer_update: { address: 'auto' } } : {}),
        };
  return {
    mode: 'payment',
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: order.currency,
          unit_amount: order.amountCents,
          product_data: { name: order.description },
          ...(account.automaticTax ? { tax_behavior: 'exclusive' } : {}),
        },
      },
    ],
    ...payer,
    client_reference_id: order.purchaseId,
    metadata,
    payment_intent_data: {
      metadata,
      description: order.description,
      ...(savePaymentMethod ? { setup_future_usage: 'off_session' } : {}),
    },
    success_url: withSessionId(order.paidUrl),
    cancel_url: order.cancelledUrl,
    expires_at: Math.floor(order.expiresAt.getTime() / 1_000),
    ...(account.automaticTax ? { automatic_tax: { enabled: true } } : {}),
  };
}

/** The provider knows its braces only as they are. */
function withSessionId(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}session_id={CHECKOUT_SESSION_ID}`;
}

function checkoutOf({ id, url, expires_at: seconds }: Stripe.Checkout.Session): Checkout {
  if (url === null || url === undefined) {
    throw new PaymentFault('refused', `the checkout ${id} is over`);
  }
  return { type: 'redirect', url, orderId: id, expiresAt: new Date(seconds * 1_000) };
}

/** The order of a purchase whose answer was lost: its session, else its intent. */
export async function findOrder(
  account: PaymentAccount,
  mark: PurchaseMark,
  signal: AbortSignal,
): Promise<string | null> {
  const session = await findSession(account, mark, signal);
  if (session !== null) return session.id;
  const created = whenMade(mark);
  return askStripe(account, signal, async (client) => {
    const listed = client.paymentIntents.list({ created, limit: 100 });
    const found = await findMarked(listed, mark);
    return found?.id ?? null;
  });
}

function findSession(
  account: PaymentAccount,
  mark: PurchaseMark,
  signal: AbortSignal,
): Promise<Stripe.Checkout.Session | null> {
  const created = whenMade(mark);
  return askStripe(account, signal, (client) =>
    findMarked(client.checkout.sessions.list({ created, limit: 100 }), mark),
  );
}

/** The purchase's id tells when it was made. */
function whenMade({ purchaseId }: PurchaseMark): { gte: number; lte: number } {
  const madeMs = timeOfId(purchaseId);
  const seconds = (ms: number) => Math.floor(ms / 1_000);
  return { gte: seconds(madeMs - earlierMs), lte: seconds(madeMs + searchedMs) };
}

async function findMarked<T extends { metadata: Stripe.Metadata | null }>(
  listed: AsyncIterable<T>,
  mark: PurchaseMark,
): Promise<T | null> {
  let seen = 0;
  for await (const object of listed) {
    if (isMarked(object.metadata, mark)) return object;
    seen += 1;
    if (seen >= searchedMax) {
      throw new PaymentFault('unknown', `none of ${searchedMax} objects is of the purchase`);
    }
  }
  return null;
}

/** What is over already stays as it is. */
export async function closeOrder(
  account: PaymentAccount,
  orderId: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await askStripe(account, signal, async (client) => {
      if (orderId.startsWith('pi_')) await client.paymentIntents.cancel(orderId);
      else await client.checkout.sessions.expire(orderId);
    });
  } catch (error) {
    if (!(error instanceof PaymentFault) || error.kind !== 'refused') throw error;
  }
}
