// A payment provider in memory, for rules that want thousands of its answers. Its state is plain;
// the adapter tells it as the real ones do. What speaks over sockets is in `bench/sim`.
import {
  type FactOfPayment,
  type Payment,
  type PaymentAccount,
  type PaymentAdapter,
  PaymentFault,
  type PaymentLook,
  type Pointer,
  type PurchaseMark,
} from '../../media/payments/contract.ts';

export interface ModelOrder {
  id: string;
  mark: PurchaseMark;
  amountCents: number;
  currency: string;
  state: PaymentLook['state'];
  payments: Payment[];
  expiresAt: Date;
}

export const modelAccount: PaymentAccount = {
  kind: 'stripe',
  baseUrl: 'http://127.0.0.1:1',
  secretKey: 'sk_model',
  keyId: null,
  automaticTax: false,
};

export class PaymentModel {
  readonly orders = new Map<string, ModelOrder>();
  readonly calls: string[] = [];
  /** The next calls end like this; `lost`: they are done first. */
  readonly faults: ('lost' | 'refused' | 'down')[] = [];
  /** What the list `events` tells, the oldest first. */
  readonly told: Pointer[] = [];
  /** How charges without a person end; none: they are paid. */
  readonly charges: ('declined' | 'needs_person' | 'soft_declined')[] = [];
  #count = 0;

  next(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${this.#count}`;
  }

  orderOf(purchaseId: string): ModelOrder {
    const found = [...this.orders.values()].find((each) => each.mark.purchaseId === purchaseId);
    if (found === undefined) throw new Error(`no order of ${purchaseId}`);
    return found;
  }

  pay(purchaseId: string, change: Partial<Payment> = {}): Payment {
    const order = this.orderOf(purchaseId);
    const payment: Payment = {
      id: this.next('pi'),
      amountCents: order.amountCents,
      taxCents: 0,
      currency: order.currency,
      purse: null,
      saved: null,
      facts: [],
      ...change,
    };
    order.payments.push(payment);
    order.state = 'paid';
    return payment;
  }

  addFact(purchaseId: string, fact: Partial<FactOfPayment> & Pick<FactOfPayment, 'kind'>) {
    const [payment] = this.orderOf(purchaseId).payments;
    if (payment === undefined) throw new Error('nothing was paid');
    const made: FactOfPayment = {
      id: this.next('fact'),
      state: fact.kind === 'refund' ? 'succeeded' : 'open',
      amountCents: payment.amountCents,
      openedAt: new Date(1_700_000_000_000 + this.#count * 1_000),
      refundId: null,
      ...fact,
    };
    payment.facts.push(made);
    return made;
  }

  /** Does the work unless it is refused; a lost answer is that of work that was done. */
  #answer<T>(call: string, work: () => T): T {
    this.calls.push(call);
    const fault = this.faults.shift();
    if (fault === 'down') throw new PaymentFault('unknown', 'down');
    if (fault === 'refused') throw new PaymentFault('refused', 'refused', { providerCode: 'no' });
    const result = work();
    if (fault === 'lost') throw new PaymentFault('unknown', 'the answer was cut');
    return result;
  }

  #made(order: Omit<ModelOrder, 'id' | 'state' | 'payments'>): ModelOrder {
    const known = [...this.orders.values()].find(
      (each) => each.mark.purchaseId === order.mark.purchaseId,
    );
    if (known !== undefined) return known;
    const made: ModelOrder = { ...order, id: this.next('cs'), state: 'open', payments: [] };
    this.orders.set(made.id, made);
    return made;
  }

  #required(orderId: string): ModelOrder {
    const order = this.orders.get(orderId);
    if (order === undefined) throw new PaymentFault('not_found', 'no such order');
    return order;
  }

  readonly adapter: PaymentAdapter = {
    kind: 'stripe',
    lists: ['events'],
    checkProof: null,
    readWebhook: () => null,
    open: async (_account, order) =>
      this.#answer('open', () => {
        const { purchaseId, installation, amountCents, currency, expiresAt } = order;
        const mark = { purchaseId, installation };
        const made = this.#made({ mark, amountCents, currency, expiresAt });
        return {
          type: 'redirect' as const,
          url: `http://127.0.0.1:1/pay/${made.id}`,
          orderId: made.id,
          expiresAt: made.expiresAt,
        };
      }),
    find: async (_account, { purchaseId }) =>
      this.#answer('find', () => {
        const all = [...this.orders.values()];
        return all.find((each) => each.mark.purchaseId === purchaseId)?.id ?? null;
      }),
    look: async (_account, orderId) =>
      this.#answer('look', () => {
        const { mark, amountCents, currency, state, payments } = this.#required(orderId);
        const failureCode = state === 'declined' ? 'card_declined' : null;
        const look = { mark, amountCents, currency, state, failureCode, needsPerson: false };
        return structuredClone({ ...look, payments, toCapture: [] });
      }),
    close: async (_account, orderId) =>
      this.#answer('close', () => {
        const order = this.#required(orderId);
        if (order.state === 'open') order.state = 'closed';
      }),
    capture: async () => {
      throw new PaymentFault('refused', 'nothing waits to be captured');
    },
    charge: async (_account, { purchaseId, installation, amountCents, currency }) =>
      this.#answer('charge', () => {
        const mark = { purchaseId, installation };
        const order = this.#made({ mark, amountCents, currency, expiresAt: new Date() });
        const ending = this.charges.shift();
        if (ending === undefined) {
          if (order.payments.length === 0) this.pay(purchaseId);
          return { status: 'paid' as const, orderId: order.id };
        }
        order.state = 'declined';
        return { status: ending, orderId: order.id, code: 'card_declined' };
      }),
    refund: async (_account, { refundId, paymentId, amountCents }) =>
      this.#answer('refund', () => {
        for (const { payments, mark } of this.orders.values()) {
          const payment = payments.find(({ id }) => id === paymentId);
          const known = payment?.facts.find((fact) => fact.refundId === refundId);
          if (known !== undefined) return { ...known, kind: 'refund' as const };
          if (payment === undefined) continue;
          const fact = { kind: 'refund' as const, amountCents, refundId };
          return { ...this.addFact(mark.purchaseId, fact), kind: 'refund' as const };
        }
        throw new PaymentFault('not_found', 'no such payment');
      }),
    orderOf: async (_account, paymentId) =>
      this.#answer('orderOf', () => {
        const all = [...this.orders.values()];
        return all.find(({ payments }) => payments.some(({ id }) => id === paymentId))?.id ?? null;
      }),
    list: async (_account, _list, since) =>
      this.#answer('list', () => this.told.filter(({ at }) => at >= since)),
    test: async () => undefined,
  };
}
