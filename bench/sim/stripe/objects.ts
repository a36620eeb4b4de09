// The objects of this provider, as far as clients of payments read them. Times are Unix seconds.

export type Texts = Record<string, string>;

export interface CardError {
  type: 'card_error';
  code: string;
  decline_code: string;
  advice_code: string | null;
  message: string;
}

export interface Intent {
  id: string;
  object: 'payment_intent';
  amount: number;
  amount_received: number;
  currency: string;
  customer: string | null;
  payment_method: string | null;
  status: 'requires_payment_method' | 'requires_action' | 'processing' | 'succeeded' | 'canceled';
  latest_charge: string | null;
  last_payment_error: CardError | null;
  metadata: Texts;
  description: string | null;
  setup_future_usage: string | null;
  created: number;
  livemode: false;
}

export interface Session {
  id: string;
  object: 'checkout.session';
  mode: 'payment';
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid';
  url: string | null;
  success_url: string;
  cancel_url: string | null;
  payment_intent: string | null;
  customer: string | null;
  customer_creation: string | null;
  customer_email: string | null;
  client_reference_id: string | null;
  amount_subtotal: number;
  amount_total: number;
  total_details: { amount_tax: number; amount_discount: number; amount_shipping: number };
  automatic_tax: { enabled: boolean; status: string | null };
  currency: string;
  metadata: Texts;
  expires_at: number;
  created: number;
  livemode: false;
}

/** What a session keeps for the intent that it makes, and for its page. */
export interface SessionPlan {
  id: string;
  description: string;
  intentMetadata: Texts;
  intentDescription: string | null;
  futureUsage: string | null;
}

export interface Charge {
  id: string;
  object: 'charge';
  amount: number;
  amount_refunded: number;
  currency: string;
  payment_intent: string;
  payment_method: string | null;
  payment_method_details: { type: 'card'; card: Card };
  customer: string | null;
  status: 'succeeded' | 'failed';
  paid: boolean;
  captured: boolean;
  disputed: boolean;
  refunded: boolean;
  metadata: Texts;
  created: number;
  livemode: false;
}

export interface Card {
  brand: string;
  last4: string;
  fingerprint: string;
  exp_month: number;
  exp_year: number;
}

export interface PaymentMethod {
  id: string;
  object: 'payment_method';
  type: 'card';
  card: Card;
  customer: string | null;
  created: number;
  livemode: false;
}

export interface Customer {
  id: string;
  object: 'customer';
  email: string | null;
  name: string | null;
  metadata: Texts;
  created: number;
  livemode: false;
}

export interface Refund {
  id: string;
  object: 'refund';
  amount: number;
  currency: string;
  charge: string;
  payment_intent: string;
  status: 'pending' | 'succeeded' | 'failed';
  failure_reason?: string;
  reason: string | null;
  metadata: Texts;
  created: number;
}

export interface Dispute {
  id: string;
  object: 'dispute';
  amount: number;
  currency: string;
  charge: string;
  payment_intent: string;
  status: string;
  reason: string;
  metadata: Texts;
  created: number;
  livemode: false;
}

export interface Event {
  id: string;
  object: 'event';
  type: string;
  api_version: string;
  data: { object: unknown };
  request: { id: string | null; idempotency_key: string | null };
  pending_webhooks: number;
  created: number;
  livemode: false;
}
