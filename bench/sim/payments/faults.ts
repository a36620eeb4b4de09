// Faults that somebody asked for. Each hits so many of the next payments, calls or webhooks of one
// provider, or of whichever comes first.

export type PaymentFamily = 'stripe' | 'razorpay';

export function isFamily(name: unknown): name is PaymentFamily {
  return name === 'stripe' || name === 'razorpay';
}

const faultNames = [
  // Webhooks.
  ...(['lost', 'five_times', 'reversed', 'late', 'old_timestamp', 'wrong_signature'] as const),
  // Calls that change something: it is done, and nobody is told so.
  ...(['cut_accepted', '500_accepted'] as const),
  // Payments.
  ...(['wrong_amount', 'second_payment', 'late_authorized'] as const),
  ...(['decline', 'authentication_required'] as const),
] as const;
export type PaymentFault = (typeof faultNames)[number];

export interface Armed {
  fault: PaymentFault;
  /** Null: either. */
  family: PaymentFamily | null;
  left: number;
  delayMs: number;
  /** What the provider calls it, where it has several words. */
  code: string | null;
}

const armedMax = 100;
const usualDelayMs = 1_000;

export class PaymentFaults {
  #armed: Armed[] = [];

  /** `{fault, count?, family?, delay_ms?, code?}`; false: there is no such fault. */
  arm({ fault, count, family, delay_ms, code }: Record<string, unknown>): boolean {
    const name = faultNames.find((known) => known === fault);
    if (name === undefined || this.#armed.length >= armedMax) return false;
    this.#armed.push({
      fault: name,
      family: isFamily(family) ? family : null,
      left: typeof count === 'number' ? count : 1,
      delayMs: typeof delay_ms === 'number' ? delay_ms : usualDelayMs,
      code: typeof code === 'string' ? code : null,
    });
    return true;
  }

  /** Whether this fault hits what happens now, which uses one of it up. */
  take(fault: PaymentFault, family: PaymentFamily): Armed | null {
    const found = this.#armed.find(
      (armed) => armed.fault === fault && (armed.family ?? family) === family,
    );
    if (found === undefined) return null;
    found.left -= 1;
    if (found.left <= 0) this.#armed = this.#armed.filter((armed) => armed !== found);
    return found;
  }

  clear(): void {
    this.#armed = [];
  }

  view(): readonly Armed[] {
    return this.#armed;
  }
}
