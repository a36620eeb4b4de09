// A simulator of its own, and what a purchase says to an adapter.
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { paymentAdapters } from '../../../media/payments/adapters.ts';
import type {
  CheckoutOrder,
  PaymentAccount,
  PaymentAdapter,
  PaymentKind,
} from '../../../media/payments/contract.ts';
import { newId } from '../../../runtime/ids.ts';
import { type HookServer, takeHooks, tell, webhookSecret } from '../../bench/sim/payments.ts';

export interface Bench {
  sim: RunningSim;
  hooks: HookServer;
  adapter: PaymentAdapter;
  account: PaymentAccount;
  signal: AbortSignal;
  order(more?: Partial<CheckoutOrder>): CheckoutOrder;
  fault(fault: string, more?: Record<string, unknown>): Promise<void>;
  /** `{dispute}` or `{refund}` of a payment. */
  act(body: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Faults and calls of the test before are no business of the next. */
  reset(): Promise<void>;
  close(): void;
}

export async function openBench(kind: PaymentKind): Promise<Bench> {
  const sim = await startSim({ port: 0, key: null, seed: 5 });
  const hooks = await takeHooks();
  await tell(sim, '/sim/webhooks', { family: kind, url: hooks.url, secret: webhookSecret });
  const isStripe = kind === 'stripe';
  const account: PaymentAccount = {
    kind,
    baseUrl: `http://127.0.0.1:${sim.port}`,
    secretKey: isStripe ? 'sk_test_right' : 'right-secret',
    keyId: isStripe ? null : 'rzp_test_1',
    automaticTax: false,
  };
  return {
    sim,
    hooks,
    adapter: paymentAdapters[kind],
    account,
    signal: new AbortController().signal,
    order: (more = {}) => ({
      purchaseId: newId('pur', 1),
      installation: 'inst_here',
      amountCents: 1_000,
      currency: isStripe ? 'usd' : 'inr',
      description: 'Starter <&>',
      email: 'person@example.com',
      paidUrl: 'http://127.0.0.1:1/account?purchase_id=1&result=paid',
      cancelledUrl: 'http://127.0.0.1:1/account?purchase_id=1&result=cancelled',
      expiresAt: new Date(Date.now() + 3_600_000),
      customerId: null,
      savePaymentMethod: false,
      ...more,
    }),
    async fault(fault, more = {}) {
      const { status } = await tell(sim, '/sim/payments', { fault, family: kind, ...more });
      if (status !== 200) throw new Error(`no fault ${fault}`);
    },
    act: (body) => tell(sim, '/sim/payments', body),
    async reset() {
      await tell(sim, '/sim/reset', {});
      hooks.taken.length = 0;
    },
    close() {
      hooks.close();
      sim.close();
    },
  };
}
