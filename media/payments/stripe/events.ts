// The events that webhooks may have lost. The list begins with the newest, and what is wanted is
// the oldest: where it is too long, the window is made shorter.
import { listedMin, type PaymentAccount, PaymentFault, type Pointer } from '../contract.ts';
import { askStripe } from './client.ts';
import { stripePointer } from './webhook.ts';

/** What tells of a payment; the list takes twenty types. */
const types = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'charge.refunded',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
];
/** A window with more is made shorter. */
const windowMax = 500;
/** Each halves a window of at most some months, or leaves one that was read. */
const windowsMax = 100;

export async function listEvents(
  account: PaymentAccount,
  since: Date,
  signal: AbortSignal,
): Promise<Pointer[]> {
  const found: Pointer[] = [];
  const end = Math.floor(Date.now() / 1_000);
  let gte = Math.min(end, Math.floor(since.getTime() / 1_000));
  let lte = end;
  for (let windows = 0; windows < windowsMax; windows += 1) {
    const listed = await listWindow(account, { gte, lte }, signal);
    if (listed === null) {
      lte = gte + Math.floor((lte - gte) / 2);
      continue;
    }
    found.push(...listed.reverse());
    if (lte === end || found.length >= listedMin) return found;
    [gte, lte] = [lte + 1, end];
  }
  throw new PaymentFault('unknown', 'the events cannot be listed');
}

/** Null: there are too many. A single second is taken whole, however many it has. */
async function listWindow(
  account: PaymentAccount,
  created: { gte: number; lte: number },
  signal: AbortSignal,
): Promise<Pointer[] | null> {
  return askStripe(account, signal, async (client) => {
    const found: Pointer[] = [];
    for await (const event of client.events.list({ created, types, limit: 100 })) {
      if (created.lte > created.gte && found.length === windowMax) return null;
      found.push(stripePointer(event));
    }
    return found;
  });
}
