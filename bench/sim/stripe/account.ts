// An account of this provider: its objects, and what becomes of them. Each change makes an event,
// which is listed and sent as a webhook.
import { createHash } from 'node:crypto';
import type { PaymentFault } from '../payments/faults.ts';
import type { AccountParts } from '../payments/parts.ts';
import { Replays } from '../payments/replays.ts';
import { Shelf } from '../payments/shelf.ts';
import type {
  Card,
  CardError,
  Charge,
  Customer,
  Dispute,
  Event,
  Intent,
  PaymentMethod,
  Refund,
  Session,
  SessionPlan,
  Texts,
} from './objects.ts';

export const now = () => Math.floor(Date.now() / 1_000);
const apiVersion = '2026-10-28.endive';
const refundSettlesMs = 300;

export class StripeAccount {
  readonly sessions = new Shelf<Session>();
  readonly plans = new Shelf<SessionPlan>();
  readonly intents = new Shelf<Intent>();
  readonly charges = new Shelf<Charge>();
  readonly customers = new Shelf<Customer>();
  readonly methods = new Shelf<PaymentMethod>();
  readonly refunds = new Shelf<Refund>();
  readonly disputes = new Shelf<Dispute>();
  readonly events = new Shelf<Event>();
  readonly replays = new Replays();
  readonly #parts: AccountParts;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  newId(prefix: string): string {
    return this.#parts.newId(prefix);
  }

  takeFault(fault: PaymentFault) {
    return this.#parts.faults.take(fault, 'stripe');
  }

  later(delayMs: number, act: () => void): void {
    this.#parts.later.after(delayMs, act);
  }

  emit(type: string, object: unknown): void {
    const event: Event = this.events.put({
      id: this.newId('evt'),
      object: 'event',
      type,
      api_version: apiVersion,
      // As it is at this moment.
      data: { object: structuredClone(object) },
      request: { id: null, idempotency_key: null },
      pending_webhooks: 1,
      created: now(),
      livemode: false,
    });
    this.#parts.webhooks.send('stripe', { id: event.id, type, body: JSON.stringify(event) });
  }

  makeCustomer(email: string | null, more: { name?: string | null; metadata?: Texts } = {}) {
    return this.customers.put({
      id: this.newId('cus'),
      object: 'customer',
      email,
      name: more.name ?? null,
      metadata: more.metadata ?? {},
      created: now(),
      livemode: false,
    });
  }

  /** Cards differ by who holds them. */
  makeMethod(holder: string, customer: string | null): PaymentMethod {
    const fingerprint = createHash('sha256').update(holder).digest('hex').slice(0, 16);
    const card: Card = {
      brand: 'visa',
      last4: '4242',
      fingerprint,
      exp_month: 12,
      exp_year: new Date().getUTCFullYear() + 3,
    };
    const made = { id: this.newId('pm'), object: 'payment_method', type: 'card' } as const;
    return this.methods.put({ ...made, card, customer, created: now(), livemode: false });
  }

  makeIntent(asked: Pick<Intent, 'amount' | 'currency'> & Partial<Intent>): Intent {
    return this.intents.put({
      id: this.newId('pi'),
      object: 'payment_intent',
      amount_received: 0,
      customer: null,
      payment_method: null,
      status: 'requires_payment_method',
      latest_charge: null,
      last_payment_error: null,
      metadata: {},
      description: null,
      setup_future_usage: null,
      created: now(),
      livemode: false,
      ...asked,
    });
  }

  /** Takes the money. */
  succeed(intent: Intent): void {
    const method =
      this.methods.get(intent.payment_method ?? '') ?? this.makeMethod(intent.id, null);
    const charge = this.charges.put({
      id: this.newId('ch'),
      object: 'charge',
      amount: intent.amount,
      amount_refunded: 0,
      currency: intent.currency,
      payment_intent: intent.id,
      payment_method: method.id,
      payment_method_details: { type: 'card', card: method.card },
      customer: intent.customer,
      status: 'succeeded',
      paid: true,
      captured: true,
      disputed: false,
      refunded: false,
      metadata: intent.metadata,
      created: now(),
      livemode: false,
    });
    intent.status = 'succeeded';
    intent.amount_received = intent.amount;
    intent.latest_charge = charge.id;
    intent.last_payment_error = null;
    this.emit('charge.succeeded', charge);
    this.emit('payment_intent.succeeded', intent);
  }

  decline(intent: Intent, error: CardError): void {
    intent.status = 'requires_payment_method';
    intent.last_payment_error = error;
    this.emit('payment_intent.payment_failed', intent);
  }

  /** Null: there is nothing left of it. */
  refund(intent: Intent, amount: number | null, more: Partial<Refund> = {}): Refund | null {
    const charge = this.charges.get(intent.latest_charge ?? '');
    const left = charge === null ? 0 : charge.amount - charge.amount_refunded;
    const taken = amount ?? left;
    if (charge === null || taken <= 0 || taken > left) return null;
    const refund: Refund = this.refunds.put({
      id: this.newId('re'),
      object: 'refund',
      amount: taken,
      currency: charge.currency,
      charge: charge.id,
      payment_intent: intent.id,
      status: 'succeeded',
      reason: null,
      metadata: {},
      created: now(),
      ...more,
    });
    if (refund.status !== 'failed') {
      charge.amount_refunded += taken;
      charge.refunded = charge.amount_refunded === charge.amount;
    }
    this.emit('refund.created', refund);
    this.emit('charge.refunded', charge);
    return refund;
  }

  /** `{payment, amount?, status?}`: made in the dashboard. `fails`: it does a while later. */
  refundAtDesk(payment: string, asked: Record<string, unknown>): Refund | null {
    const intent = this.paymentOf(payment);
    if (intent === null) return null;
    const { amount, status } = asked;
    const isPending = status === 'pending' || status === 'fails';
    const refund = this.refund(intent, typeof amount === 'number' ? amount : null, {
      status: isPending ? 'pending' : 'succeeded',
    });
    if (refund !== null && status === 'fails') {
      this.later(refundSettlesMs, () => this.failRefund(refund));
    }
    return refund;
  }

  failRefund(refund: Refund): void {
    const charge = this.charges.get(refund.charge);
    if (charge !== null && refund.status !== 'failed') {
      charge.amount_refunded -= refund.amount;
      charge.refunded = false;
    }
    refund.status = 'failed';
    refund.failure_reason = 'lost_or_stolen_card';
    this.emit('refund.updated', refund);
    this.emit('refund.failed', refund);
  }

  /** `{payment, status?, amount?}`: opened, or moved to another state. */
  dispute(payment: string, asked: Record<string, unknown>): Dispute | null {
    const intent = this.paymentOf(payment);
    const charge = this.charges.get(intent?.latest_charge ?? '');
    if (intent === null || charge === null) return null;
    const status = typeof asked.status === 'string' ? asked.status : 'needs_response';
    const known = this.disputes.newest().find((each) => each.charge === charge.id) ?? null;
    if (known !== null) {
      known.status = status;
      const isClosed = /^(?:won|lost|warning_closed|prevented)$/.test(status);
      this.emit(isClosed ? 'charge.dispute.closed' : 'charge.dispute.updated', known);
      return known;
    }
    charge.disputed = true;
    const dispute: Dispute = this.disputes.put({
      id: this.newId('du'),
      object: 'dispute',
      amount: typeof asked.amount === 'number' ? asked.amount : charge.amount,
      currency: charge.currency,
      charge: charge.id,
      payment_intent: intent.id,
      status,
      reason: 'fraudulent',
      metadata: {},
      created: now(),
      livemode: false,
    });
    this.emit('charge.dispute.created', dispute);
    return dispute;
  }

  /** The intent that a payment's, charge's or session's id leads to. */
  paymentOf(id: string): Intent | null {
    const named = this.charges.get(id)?.payment_intent ?? this.sessions.get(id)?.payment_intent;
    return this.intents.get(named ?? id);
  }

  /** Any object by its id: what is expanded. */
  find(id: string): object | null {
    const shelves = [this.intents, this.charges, this.customers, this.methods, this.sessions];
    for (const shelf of [...shelves, this.refunds, this.disputes]) {
      const found = shelf.get(id);
      if (found !== null) return found;
    }
    return null;
  }

  view() {
    return {
      sessions: this.sessions.newest(),
      payment_intents: this.intents.newest(),
      charges: this.charges.newest(),
      customers: this.customers.newest(),
      refunds: this.refunds.newest(),
      disputes: this.disputes.newest(),
      events: this.events.newest().map(({ id, type }) => ({ id, type })),
    };
  }
}
