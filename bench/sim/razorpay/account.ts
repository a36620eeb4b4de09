// An account of this provider: orders, payments, refunds and disputes, and the webhooks about them.
// A payment is authorized first; it is captured at once unless somebody asked for a late one.
import { createHmac } from 'node:crypto';
import type { Armed, PaymentFault } from '../payments/faults.ts';
import type { AccountParts } from '../payments/parts.ts';
import { Replays } from '../payments/replays.ts';
import { Shelf } from '../payments/shelf.ts';
import type { Dispute, Notes, Order, Payment, Refund } from './objects.ts';

const now = () => Math.floor(Date.now() / 1_000);
const respondSeconds = 10 * 24 * 3_600;
const refundSettlesMs = 300;

/** What a client is given for its proof. */
export interface Proof {
  razorpay_order_id: string;
  razorpay_payment_id: string;
  razorpay_signature: string;
}

export class RazorpayAccount {
  readonly orders = new Shelf<Order>();
  readonly payments = new Shelf<Payment>();
  readonly refunds = new Shelf<Refund>();
  readonly disputes = new Shelf<Dispute>();
  readonly replays = new Replays();
  /** The key secret that an order was made under: it signs the proofs of its payments. */
  readonly #secrets = new Shelf<{ id: string; secret: string }>();
  readonly #parts: AccountParts;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  takeFault(fault: PaymentFault): Armed | null {
    return this.#parts.faults.take(fault, 'razorpay');
  }

  makeOrder(
    asked: Pick<Order, 'amount' | 'currency' | 'receipt' | 'notes'>,
    secret: string,
  ): Order {
    const order: Order = this.orders.put({
      id: this.#parts.newId('order'),
      entity: 'order',
      amount_paid: 0,
      amount_due: asked.amount,
      offer_id: null,
      status: 'created',
      attempts: 0,
      created_at: now(),
      ...asked,
    });
    this.#secrets.put({ id: order.id, secret });
    return order;
  }

  paymentsOf(order: Order): Payment[] {
    return this.payments.newest().filter((payment) => payment.order_id === order.id);
  }

  /** A person pays: the proof, or null where it is declined or the order is paid. */
  pay(order: Order, email: string): Proof | null {
    if (order.status === 'paid') return null;
    order.attempts += 1;
    order.status = 'attempted';
    const payment = this.#makePayment(order, email);
    if (this.takeFault('decline') !== null) {
      this.#fail(payment);
      return null;
    }
    if (this.takeFault('wrong_amount') !== null) payment.amount += 1;
    const late = this.takeFault('late_authorized');
    if (late !== null) {
      // The bank does not answer, and says later that it went through: nobody captures it.
      this.#fail(payment);
      this.#parts.later.after(late.delayMs, () => this.#authorize(payment));
      return this.#proof(order, payment);
    }
    this.#authorize(payment);
    this.capture(payment);
    if (this.takeFault('second_payment') !== null) {
      const second = this.#makePayment(order, email);
      this.#authorize(second);
      this.capture(second);
    }
    return this.#proof(order, payment);
  }

  #makePayment({ id, amount, currency, notes }: Order, email: string): Payment {
    return this.payments.put({
      id: this.#parts.newId('pay'),
      entity: 'payment',
      amount,
      currency,
      status: 'created',
      order_id: id,
      international: false,
      method: 'upi',
      amount_refunded: 0,
      refund_status: null,
      captured: false,
      description: null,
      card_id: null,
      bank: null,
      wallet: null,
      vpa: `${email.split('@')[0]}@simbank`,
      email,
      contact: '+919900000000',
      notes,
      fee: null,
      tax: null,
      error_code: null,
      error_description: null,
      error_source: null,
      error_step: null,
      error_reason: null,
      created_at: now(),
    });
  }

  #fail(payment: Payment): void {
    payment.status = 'failed';
    payment.error_code = 'BAD_REQUEST_ERROR';
    payment.error_description = 'Payment failed';
    payment.error_source = 'customer';
    payment.error_step = 'payment_authorization';
    payment.error_reason = 'payment_failed';
    this.#emit('payment.failed', { payment });
  }

  #authorize(payment: Payment): void {
    payment.status = 'authorized';
    for (const member of ['code', 'description', 'source', 'step', 'reason'] as const) {
      payment[`error_${member}`] = null;
    }
    this.#emit('payment.authorized', { payment });
  }

  /** False: it is not authorized. */
  capture(payment: Payment): boolean {
    if (payment.status !== 'authorized') return false;
    payment.status = 'captured';
    payment.captured = true;
    payment.fee = Math.round(payment.amount * 0.0236);
    payment.tax = Math.round(payment.amount * 0.0036);
    this.#emit('payment.captured', { payment });
    const order = this.orders.get(payment.order_id);
    if (order === null) return true;
    order.status = 'paid';
    order.amount_paid += payment.amount;
    order.amount_due = Math.max(0, order.amount - order.amount_paid);
    this.#emit('order.paid', { payment, order });
    return true;
  }

  #proof({ id }: Order, payment: Payment): Proof {
    const secret = this.#secrets.get(id)?.secret ?? '';
    const signature = createHmac('sha256', secret).update(`${id}|${payment.id}`).digest('hex');
    return {
      razorpay_order_id: id,
      razorpay_payment_id: payment.id,
      razorpay_signature: signature,
    };
  }

  /** Null: it is not captured, or there is nothing left of it. */
  refund(
    payment: Payment,
    amount: number | null,
    more: { notes?: Notes; receipt?: string | null; status?: Refund['status'] } = {},
  ): Refund | null {
    const left = payment.amount - payment.amount_refunded;
    const taken = amount ?? left;
    if (!payment.captured || taken <= 0 || taken > left) return null;
    const refund: Refund = this.refunds.put({
      id: this.#parts.newId('rfnd'),
      entity: 'refund',
      amount: taken,
      currency: payment.currency,
      payment_id: payment.id,
      notes: {},
      receipt: null,
      batch_id: null,
      status: 'processed',
      speed_requested: 'normal',
      speed_processed: 'normal',
      created_at: now(),
      ...more,
    });
    this.#countRefund(payment, taken);
    this.#emit('refund.created', { refund, payment });
    if (refund.status === 'processed') this.#emit('refund.processed', { refund, payment });
    return refund;
  }

  #countRefund(payment: Payment, amount: number): void {
    payment.amount_refunded += amount;
    const { amount_refunded: refunded } = payment;
    payment.refund_status = refunded === 0 ? null : refunded < payment.amount ? 'partial' : 'full';
    payment.status = refunded === payment.amount ? 'refunded' : 'captured';
  }

  /** `{payment, amount?, status?}`: made in the dashboard. `fails`: it does a while later. */
  refundAtDesk(id: string, asked: Record<string, unknown>): Refund | null {
    const payment = this.payments.get(id);
    if (payment === null) return null;
    const { amount, status } = asked;
    const isPending = status === 'pending' || status === 'fails';
    const refund = this.refund(payment, typeof amount === 'number' ? amount : null, {
      status: isPending ? 'pending' : 'processed',
    });
    if (refund !== null && status === 'fails') {
      this.#parts.later.after(refundSettlesMs, () => {
        refund.status = 'failed';
        this.#countRefund(payment, -refund.amount);
        this.#emit('refund.failed', { refund, payment });
      });
    }
    return refund;
  }

  /** `{payment, status?, phase?, amount?}`: opened, or moved to another state or phase. */
  dispute(id: string, asked: Record<string, unknown>): Dispute | null {
    const payment = this.payments.get(id);
    if (payment === null) return null;
    const status = typeof asked.status === 'string' ? asked.status : 'open';
    const known = this.disputes.newest().find((each) => each.payment_id === id) ?? null;
    const dispute: Dispute =
      known ??
      this.disputes.put({
        id: this.#parts.newId('disp'),
        entity: 'dispute',
        payment_id: id,
        amount: typeof asked.amount === 'number' ? asked.amount : payment.amount,
        currency: payment.currency,
        amount_deducted: 0,
        reason_code: 'chargeback_authorization',
        respond_by: now() + respondSeconds,
        status,
        phase: 'chargeback',
        created_at: now(),
      });
    dispute.status = status;
    if (typeof asked.phase === 'string') dispute.phase = asked.phase;
    dispute.amount_deducted = status === 'lost' ? dispute.amount : 0;
    const type = known === null || status === 'open' ? 'created' : status;
    this.#emit(`payment.dispute.${type}`, { payment, dispute });
    return dispute;
  }

  #emit(type: string, objects: Record<string, object>): void {
    const contains = Object.keys(objects);
    const payload = Object.fromEntries(contains.map((name) => [name, { entity: objects[name] }]));
    const body = JSON.stringify({
      entity: 'event',
      account_id: 'acc_simulated',
      event: type,
      contains,
      payload,
      created_at: now(),
    });
    this.#parts.webhooks.send('razorpay', { id: this.#parts.newId('rzpevt'), type, body });
  }

  view() {
    return {
      orders: this.orders.newest(),
      payments: this.payments.newest(),
      refunds: this.refunds.newest(),
      disputes: this.disputes.newest(),
    };
  }
}
