// Razorpay as a payment provider, by calls of our own. An order has no key: its receipt is the
// purchase's id, and must be unique. It cannot be closed either, so money may come late.
import * as v from 'valibot';
import {
  type Checkout,
  type CheckoutOrder,
  type FactOfPayment,
  type PaymentAccount,
  type PaymentAdapter,
  PaymentFault,
  type PaymentLook,
  type Pointer,
  type PurchaseMark,
  type RefundOrder,
} from '../contract.ts';
import { isMarked, markMembers } from '../mark.ts';
import {
  disputeSchema,
  get,
  listAll,
  orderSchema,
  paymentSchema,
  post,
  refundSchema,
} from './api.ts';
import { lookAt, refundFact } from './look.ts';
import { checkRazorpayProof, readRazorpayWebhook } from './webhook.ts';

const anyList = v.object({ items: v.array(v.unknown()) });

export const razorpayAdapter: PaymentAdapter = {
  kind: 'razorpay',
  open: openOrder,
  find: findOrder,
  look: lookAt,
  async close() {
    // There is no such call.
  },
  capture: capturePayment,
  charge: null,
  refund: sendRefund,
  async orderOf(account, paymentId, signal) {
    const path = `/v1/payments/${encodeURIComponent(paymentId)}`;
    const { order_id: orderId } = await get(account, path, paymentSchema, signal);
    return orderId ?? null;
  },
  readWebhook: readRazorpayWebhook,
  lists: ['refunds', 'disputes'],
  list: listFacts,
  checkProof: checkRazorpayProof,
  async test(account, signal) {
    await get(account, '/v1/orders?count=1', anyList, signal);
  },
};

async function openOrder(
  account: PaymentAccount,
  order: CheckoutOrder,
  signal: AbortSignal,
): Promise<Checkout> {
  const orderId = await makeOrder(account, order, signal);
  return { type: 'razorpay', keyId: account.keyId ?? '', orderId, expiresAt: order.expiresAt };
}

/** The one that there is, where its receipt is taken. */
async function makeOrder(
  account: PaymentAccount,
  order: CheckoutOrder,
  signal: AbortSignal,
): Promise<string> {
  const body = {
    amount: order.amountCents,
    currency: order.currency.toUpperCase(),
    receipt: order.purchaseId,
    unique_receipt: true,
    notes: markMembers(order),
  };
  try {
    return (await post(account, { path: '/v1/orders', body }, orderSchema, signal)).id;
  } catch (error) {
    if (!isRefused(error)) throw error;
    const found = await findOrder(account, order, signal);
    if (found === null) throw error;
    return found;
  }
}

/** The oldest, should there be several. */
async function findOrder(
  account: PaymentAccount,
  mark: PurchaseMark,
  signal: AbortSignal,
): Promise<string | null> {
  const query = { receipt: mark.purchaseId };
  const orders = await listAll(account, '/v1/orders', query, orderSchema, signal);
  return orders.findLast(({ notes }) => isMarked(notes, mark))?.id ?? null;
}

async function capturePayment(
  account: PaymentAccount,
  { paymentId, amountCents, currency }: PaymentLook['toCapture'][number],
  signal: AbortSignal,
): Promise<void> {
  const path = `/v1/payments/${encodeURIComponent(paymentId)}`;
  const body = { amount: amountCents, currency: currency.toUpperCase() };
  try {
    await post(account, { path: `${path}/capture`, body }, paymentSchema, signal);
  } catch (error) {
    if (!isRefused(error)) throw error;
    // Somebody has done it already, or it is authorized no more.
    const payment = await get(account, path, paymentSchema, signal);
    if (payment.captured !== true) throw error;
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof PaymentFault && error.kind === 'refused';
}

async function sendRefund(
  account: PaymentAccount,
  { refundId, paymentId, amountCents }: RefundOrder,
  signal: AbortSignal,
): Promise<FactOfPayment & { kind: 'refund' }> {
  const sent = {
    path: `/v1/payments/${encodeURIComponent(paymentId)}/refund`,
    headers: { 'x-refund-idempotency': refundId },
    body: { amount: amountCents, receipt: refundId, notes: { refund_id: refundId } },
  };
  return refundFact(await post(account, sent, refundSchema, signal));
}

/** Both change long after they were made, and are listed by when that was. */
const lookBackMs = { refunds: 14 * 24 * 3_600_000, disputes: 180 * 24 * 3_600_000 };

/** What is told of each state once: the id of such an event has the state in it. */
async function listFacts(
  account: PaymentAccount,
  list: string,
  since: Date,
  signal: AbortSignal,
): Promise<Pointer[]> {
  const isRefunds = list === 'refunds';
  const sinceMs = since.getTime() - lookBackMs[isRefunds ? 'refunds' : 'disputes'];
  const query = { from: String(Math.max(0, Math.floor(sinceMs / 1_000))) };
  const schema = isRefunds ? refundSchema : disputeSchema;
  const found = await listAll(account, `/v1/${list}`, query, schema, signal);
  const pointers = found.map(({ id, status, payment_id: paymentId, created_at: at }): Pointer => {
    return {
      eventId: `${id}.${status}`,
      type: `${isRefunds ? 'refund' : 'dispute'}.${status}`,
      at: new Date(at * 1_000),
      purchaseId: null,
      orderIds: [],
      paymentIds: [paymentId],
    };
  });
  return pointers.reverse();
}
