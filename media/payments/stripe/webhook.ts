// Stripe's webhooks (docs.stripe.com/webhooks#verify-manually): the header has a time and
// signatures of `time.body`. The vendor's package is not needed, and shards do not load it.
import type { Pointer } from '../contract.ts';
import { markIn } from '../mark.ts';
import { idIn, idsOf, linkIn, membersOf, momentOf } from '../pointer.ts';
import { isSigned } from '../signature.ts';

/** As the vendor's own checker has it. */
const toleranceMs = 300_000;

export function readStripeWebhook(
  body: Uint8Array,
  header: (name: string) => string | undefined,
  secrets: readonly string[],
  nowMs: number,
): Pointer | null {
  const fields = (header('stripe-signature') ?? '').split(',').map((field) => field.trim());
  const valuesOf = (name: string) =>
    fields.filter((field) => field.startsWith(`${name}=`)).map((f) => f.slice(name.length + 1));
  const [time = '', ...others] = valuesOf('t');
  if (others.length > 0 || !/^\d{1,12}$/.test(time)) return null;
  if (!isSigned([`${time}.`, body], valuesOf('v1'), secrets)) return null;
  if (Math.abs(nowMs - Number(time) * 1_000) > toleranceMs) return null;
  return stripePointer(JSON.parse(Buffer.from(body).toString('utf8')));
}

/** An event, of a webhook or of the list of them. @throws Error where it is none */
export function stripePointer(told: unknown): Pointer {
  const event = membersOf(told);
  const object = membersOf(membersOf(event.data).object);
  const eventId = idIn(event, 'id');
  const type = idIn(event, 'type');
  if (eventId === null || type === null) throw new Error('what was signed is no event');
  const id = idIn(object, 'id');
  const isSession = object.object === 'checkout.session';
  const isIntent = object.object === 'payment_intent';
  const intent = isIntent ? id : linkIn(object, 'payment_intent');
  return {
    eventId,
    type,
    at: momentOf(event.created),
    purchaseId: markIn(object.metadata)?.purchaseId ?? null,
    // The order of a charge without a checkout is its intent.
    orderIds: idsOf(isSession || isIntent ? id : null),
    paymentIds: idsOf(intent),
  };
}
