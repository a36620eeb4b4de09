// The payment providers of one simulator: what they know, which faults wait, whom they tell, and
// what they were asked. They know nothing of who asks.
import { RazorpayAccount } from '../razorpay/account.ts';
import { StripeAccount } from '../stripe/account.ts';
import { type PaymentFamily, PaymentFaults } from './faults.ts';
import { Later } from './later.ts';
import type { AccountParts } from './parts.ts';
import { Webhooks } from './webhooks.ts';

interface Call {
  family: PaymentFamily;
  method: string;
  path: string;
  /** Under which it is done once. */
  key: string;
  status: number;
}

const callsMax = 5_000;

export class Payments {
  readonly faults = new PaymentFaults();
  readonly later = new Later();
  readonly webhooks = new Webhooks(this.faults, this.later);
  readonly stripe: StripeAccount;
  readonly razorpay: RazorpayAccount;
  #calls: Call[] = [];
  readonly #started = Date.now().toString(36);
  #ids = 0;

  constructor() {
    const parts: AccountParts = {
      faults: this.faults,
      webhooks: this.webhooks,
      later: this.later,
      newId: (prefix) => {
        this.#ids += 1;
        return `${prefix}_${this.#started}${this.#ids.toString(36).padStart(6, '0')}`;
      },
    };
    this.stripe = new StripeAccount(parts);
    this.razorpay = new RazorpayAccount(parts);
  }

  called(call: Call): void {
    this.#calls.push(call);
    if (this.#calls.length > callsMax) this.#calls.shift();
  }

  /** `{fault, …}`, `{dispute}` or `{refund}`; what came of it, or null. */
  act(body: Record<string, unknown>): unknown {
    if ('fault' in body) return this.faults.arm(body) ? { armed: body.fault } : null;
    const { dispute, refund } = body as Record<string, Record<string, unknown> | undefined>;
    const asked = dispute ?? refund;
    const payment = String(asked?.payment ?? '');
    const account = payment.startsWith('pay_') ? this.razorpay : this.stripe;
    if (dispute !== undefined) return account.dispute(payment, dispute);
    return refund === undefined ? null : account.refundAtDesk(payment, refund);
  }

  reset(): void {
    this.faults.clear();
    this.#calls = [];
  }

  view() {
    const keys: Record<string, number> = {};
    for (const { key } of this.#calls) if (key !== '') keys[key] = (keys[key] ?? 0) + 1;
    return {
      objects: { stripe: this.stripe.view(), razorpay: this.razorpay.view() },
      calls: this.#calls,
      keys,
      faults: this.faults.view(),
      webhooks: this.webhooks.view(),
    };
  }

  close(): void {
    this.later.close();
  }
}
