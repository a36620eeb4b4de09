// What became of an order: its payments, and what was paid back of them or is disputed.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { FactOfPayment, Payment, PaymentAccount, PaymentLook } from '../contract.ts';
import { markIn } from '../mark.ts';
import { idIn, membersOf } from '../pointer.ts';
import {
  disputeSchema,
  get,
  listAll,
  orderSchema,
  paymentSchema,
  type RazorpayDispute,
  type RazorpayOrder,
  type RazorpayPayment,
  type RazorpayRefund,
  refundSchema,
} from './api.ts';

/** A person who is still paying has done so by then; the provider is slower to say who left. */
const payingMs = 30 * 60_000;

export async function lookAt(
  account: PaymentAccount,
  orderId: string,
  signal: AbortSignal,
): Promise<PaymentLook> {
  const path = `/v1/orders/${encodeURIComponent(orderId)}`;
  const payments = v.object({ items: v.array(paymentSchema) });
  const [order, { items }] = await Promise.all([
    get(account, path, orderSchema, signal),
    get(account, `${path}/payments?expand[]=card`, payments, signal),
  ]);
  const paid = items.filter(({ captured }) => captured === true);
  const [refunds, disputes] = await Promise.all([
    refundsOf(account, paid, signal),
    disputesOf(account, paid, signal),
  ]);
  return lookOf(order, items, { refunds, disputes }, Date.now());
}

async function refundsOf(
  account: PaymentAccount,
  paid: readonly RazorpayPayment[],
  signal: AbortSignal,
): Promise<RazorpayRefund[]> {
  const lists = paid.map(({ id }) =>
    listAll(account, `/v1/payments/${encodeURIComponent(id)}/refunds`, {}, refundSchema, signal),
  );
  return (await Promise.all(lists)).flat();
}

/** They are listed by their time alone, and none is older than its payment. */
async function disputesOf(
  account: PaymentAccount,
  paid: readonly RazorpayPayment[],
  signal: AbortSignal,
): Promise<RazorpayDispute[]> {
  if (paid.length === 0) return [];
  const from = String(Math.min(...paid.map(({ created_at: at }) => at)));
  const ids = new Set(paid.map(({ id }) => id));
  const listed = await listAll(account, '/v1/disputes', { from }, disputeSchema, signal);
  return listed.filter(({ payment_id: id }) => ids.has(id));
}

/** Pure. */
export function lookOf(
  order: RazorpayOrder,
  payments: readonly RazorpayPayment[],
  facts: { refunds: readonly RazorpayRefund[]; disputes: readonly RazorpayDispute[] },
  nowMs: number,
): PaymentLook {
  const sorted = [...payments].sort(
    (left, right) => left.created_at - right.created_at || (left.id < right.id ? -1 : 1),
  );
  const paid = sorted.filter(({ captured }) => captured === true);
  const waiting = sorted.filter(({ status }) => status === 'authorized');
  const failed = sorted.findLast(({ status }) => status === 'failed');
  return {
    mark: markIn(order.notes),
    amountCents: order.amount,
    currency: order.currency.toLowerCase(),
    state: paid.length > 0 ? 'paid' : isUnderWay(sorted, nowMs) ? 'under_way' : 'open',
    failureCode: paid.length > 0 ? null : (failed?.error_reason ?? failed?.error_code ?? null),
    needsPerson: false,
    payments: paid.map((payment) => paymentOf(payment, facts)),
    toCapture: waiting.map(({ id, amount, currency }) => {
      return { paymentId: id, amountCents: amount, currency: currency.toLowerCase() };
    }),
  };
}

function isUnderWay(payments: readonly RazorpayPayment[], nowMs: number): boolean {
  return payments.some(({ status, created_at: at }) => {
    return status === 'authorized' || (status === 'created' && nowMs - at * 1_000 < payingMs);
  });
}

function paymentOf(
  payment: RazorpayPayment,
  facts: { refunds: readonly RazorpayRefund[]; disputes: readonly RazorpayDispute[] },
): Payment {
  const { id } = payment;
  return {
    id,
    amountCents: payment.amount,
    // Its `tax` is on the provider's fee.
    taxCents: 0,
    currency: payment.currency.toLowerCase(),
    purse: purseOf(payment),
    saved: null,
    facts: [
      ...facts.refunds.filter((fact) => fact.payment_id === id).map(refundFact),
      ...facts.disputes.filter((fact) => fact.payment_id === id).map(disputeFact),
    ],
  };
}

/** The provider tells no fingerprint: what it tells of the card or account is digested. */
function purseOf({ method, vpa, card, wallet, bank, contact }: RazorpayPayment): string | null {
  const holder = vpa?.toLowerCase() ?? null;
  const ofCard =
    card === null || card === undefined || card.last4 === null
      ? null
      : [card.network, card.issuer, card.type, card.last4, card.name?.toLowerCase()].join('|');
  const ofAccount = wallet === null && bank === null ? null : [wallet, bank, contact].join('|');
  const told = holder ?? ofCard ?? ofAccount;
  if (told === null) return null;
  return `${method}:${createHash('sha256').update(told).digest('hex').slice(0, 32)}`;
}

export function refundFact(refund: RazorpayRefund): FactOfPayment & { kind: 'refund' } {
  const { status } = refund;
  return {
    id: refund.id,
    kind: 'refund',
    state: status === 'processed' ? 'succeeded' : status === 'failed' ? 'failed' : 'pending',
    amountCents: refund.amount,
    openedAt: new Date(refund.created_at * 1_000),
    refundId: idIn(membersOf(refund.notes), 'refund_id'),
  };
}

function disputeFact(dispute: RazorpayDispute): FactOfPayment {
  return {
    id: dispute.id,
    kind: 'dispute',
    state: disputeState(dispute),
    amountCents: dispute.amount,
    openedAt: new Date(dispute.created_at * 1_000),
    refundId: null,
  };
}

/** Retrievals and warnings of fraud take no money; chargebacks and arbitrations do. */
export function disputeState({
  status,
  phase,
}: Pick<RazorpayDispute, 'status' | 'phase'>): 'inquiry' | 'open' | 'won' | 'lost' {
  if (status === 'won' || status === 'closed') return 'won';
  if (phase === 'fraud' || phase === 'retrieval') return 'inquiry';
  return status === 'lost' ? 'lost' : 'open';
}
