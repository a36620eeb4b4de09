// Razorpay's webhooks (razorpay.com/docs/webhooks/validate-test): an HMAC of the raw bytes. There
// is no time in it: a repeat is known by its id.
import type { PaymentAccount, Pointer } from '../contract.ts';
import { markIn } from '../mark.ts';
import { idIn, idsOf, membersOf, momentOf } from '../pointer.ts';
import { isSigned } from '../signature.ts';

export function readRazorpayWebhook(
  body: Uint8Array,
  header: (name: string) => string | undefined,
  secrets: readonly string[],
): Pointer | null {
  const signature = header('x-razorpay-signature') ?? '';
  if (!isSigned([body], [signature], secrets)) return null;
  const event = membersOf(JSON.parse(Buffer.from(body).toString('utf8')));
  const eventId = idIn({ id: header('x-razorpay-event-id') }, 'id');
  const type = idIn(event, 'event');
  if (eventId === null || type === null) throw new Error('what was signed is no event');
  const payload = membersOf(event.payload);
  const entity = (name: string) => membersOf(membersOf(payload[name]).entity);
  const { payment, order, refund, dispute } = {
    payment: entity('payment'),
    order: entity('order'),
    refund: entity('refund'),
    dispute: entity('dispute'),
  };
  return {
    eventId,
    type,
    at: momentOf(event.created_at),
    purchaseId: (markIn(order.notes) ?? markIn(payment.notes))?.purchaseId ?? null,
    orderIds: idsOf(idIn(order, 'id'), idIn(payment, 'order_id')),
    paymentIds: idsOf(idIn(payment, 'id'), idIn(refund, 'payment_id'), idIn(dispute, 'payment_id')),
  };
}

/** The client's proof is signed with the key secret, which signs no webhook. */
export function checkRazorpayProof(
  { secretKey }: PaymentAccount,
  proof: { orderId: string; paymentId: string; signature: string },
): boolean {
  const { orderId, paymentId, signature } = proof;
  return isSigned([`${orderId}|${paymentId}`], [signature], [secretKey]);
}
