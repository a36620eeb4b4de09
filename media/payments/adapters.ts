// The adapter of each kind of payment provider.
import type { PaymentAdapter, PaymentKind } from './contract.ts';
import { razorpayAdapter } from './razorpay/adapter.ts';
import { stripeAdapter } from './stripe/adapter.ts';

export const paymentAdapters: Readonly<Record<PaymentKind, PaymentAdapter>> = {
  stripe: stripeAdapter,
  razorpay: razorpayAdapter,
};
