// What a payment provider is to the gateway. An adapter speaks its wire and keeps nothing. Whoever
// calls it has the purchase's row: a provider is asked, and its answer is applied. All amounts are
// integers in minor units of the currency, which is a lower-case ISO 4217 code.

export type PaymentKind = 'stripe' | 'razorpay';

/** How to reach one provider. */
export interface PaymentAccount {
  kind: PaymentKind;
  /** Without a slash at its end. */
  baseUrl: string;
  secretKey: string;
  /** Razorpay has one; a client needs it as well. */
  keyId: string | null;
  /** The provider adds taxes to the price. */
  automaticTax: boolean;
}

/** Why there is no answer. `unknown`: the call may have been done, so it is asked for. */
export class PaymentFault extends Error {
  readonly kind: 'unknown' | 'refused' | 'misconfigured' | 'not_found' | 'slow_down';
  /** What the provider calls it, for logs and administrators alone. */
  readonly providerCode: string | null;
  readonly retryAfterMs: number | null;

  constructor(
    kind: PaymentFault['kind'],
    message: string,
    more: { providerCode?: string | null; retryAfterMs?: number | null } = {},
  ) {
    super(message);
    this.kind = kind;
    this.providerCode = more.providerCode ?? null;
    this.retryAfterMs = more.retryAfterMs ?? null;
  }
}

/** What our purchase is called at a provider: read back from its objects and compared. */
export interface PurchaseMark {
  /** `pur_…`; also the key under which each call of it is done once. */
  purchaseId: string;
  /** Names this installation: two may share a provider's account. */
  installation: string;
}

export interface CheckoutOrder extends PurchaseMark {
  amountCents: number;
  currency: string;
  /** What is bought, as the person reads it. */
  description: string;
  email: string | null;
  /** Where the provider's page leads back to. Stripe adds its session's id to the first. */
  paidUrl: string;
  cancelledUrl: string;
  expiresAt: Date;
  /** A saved customer; null: a new one where the card is to be saved. */
  customerId: string | null;
  savePaymentMethod: boolean;
}

export type Checkout =
  | { type: 'redirect'; url: string; orderId: string; expiresAt: Date }
  | { type: 'razorpay'; keyId: string; orderId: string; expiresAt: Date };

export interface FactOfPayment {
  /** The provider's id. */
  id: string;
  kind: 'refund' | 'dispute';
  /** A refund has the first three, a dispute the others, of which only `open` and `lost` count. */
  state: 'pending' | 'succeeded' | 'failed' | 'inquiry' | 'open' | 'won' | 'lost';
  amountCents: number;
  openedAt: Date;
  /** `rfd_…` of a refund that we asked for; null: it was made at the provider. */
  refundId: string | null;
}

/** A payment that went through at the provider. */
export interface Payment {
  id: string;
  /** What was paid, taxes included. */
  amountCents: number;
  taxCents: number;
  currency: string;
  /** Paid with: its fingerprint or digest, the same for the same card or account; null: unknown. */
  purse: string | null;
  /** A card that was saved with it. */
  saved: SavedCard | null;
  facts: FactOfPayment[];
}

export interface SavedCard {
  customerId: string;
  paymentMethodId: string;
  brand: string | null;
  last4: string | null;
}

/** What the provider says of a purchase at this moment. */
export interface PaymentLook {
  /** As the object is marked; null: it says nothing of it. */
  mark: PurchaseMark | null;
  /** The price that the object has, without taxes. */
  amountCents: number;
  currency: string;
  /**
   * `open`: nobody has paid. `under_way`: a payment is being made, or waits to be captured.
   * `declined`: for good. `closed`: nobody can pay any more.
   */
  state: 'open' | 'under_way' | 'paid' | 'declined' | 'closed';
  failureCode: string | null;
  /** A person has to act: a charge without one cannot go on. */
  needsPerson: boolean;
  /** All that went through, the oldest first. More than one: the others are anomalies. */
  payments: Payment[];
  /** Authorized and not captured: our work (Razorpay). */
  toCapture: { paymentId: string; amountCents: number; currency: string }[];
}

export interface CardCharge extends PurchaseMark {
  amountCents: number;
  currency: string;
  description: string;
  card: Pick<SavedCard, 'customerId' | 'paymentMethodId'>;
}

/** What became of a charge without a person. An order's id: it is looked at like a checkout. */
export type ChargeOutcome =
  | { status: 'paid' | 'under_way'; orderId: string }
  | { status: 'needs_person' | 'declined'; orderId: string | null; code: string | null }
  /** It may go through another time. */
  | { status: 'soft_declined'; orderId: string | null; code: string | null };

export interface RefundOrder {
  /** `rfd_…`: done once under it. */
  refundId: string;
  paymentId: string;
  amountCents: number;
  currency: string;
}

/** What a webhook, or a provider's list, points at. Nothing else of it is believed. */
export interface Pointer {
  eventId: string;
  type: string;
  at: Date;
  /** Ids of objects: of ours where they are marked, of orders, of payments. */
  purchaseId: string | null;
  orderIds: string[];
  paymentIds: string[];
}

/** A provider has no more in a list than it told, where that is less than so many. */
export const listedMin = 500;

export interface PaymentAdapter {
  readonly kind: PaymentKind;
  /** Opens the checkout of a purchase; repeated, the same one. */
  open(account: PaymentAccount, order: CheckoutOrder, signal: AbortSignal): Promise<Checkout>;
  /** Finds the order of a purchase whose answer was lost; null: the provider has none. */
  find(account: PaymentAccount, mark: PurchaseMark, signal: AbortSignal): Promise<string | null>;
  /** What became of an order, a session, or the intent of a charge. */
  look(account: PaymentAccount, orderId: string, signal: AbortSignal): Promise<PaymentLook>;
  /** Nobody can pay it any more, unless somebody is just doing so: a look says which. */
  close(account: PaymentAccount, orderId: string, signal: AbortSignal): Promise<void>;
  /** Captures what was authorized; once, however often it is called. */
  capture(
    account: PaymentAccount,
    payment: PaymentLook['toCapture'][number],
    signal: AbortSignal,
  ): Promise<void>;
  /** Null: the provider has no such charges. */
  readonly charge:
    | ((account: PaymentAccount, charge: CardCharge, signal: AbortSignal) => Promise<ChargeOutcome>)
    | null;
  /** Sends money back; its fact. */
  refund(
    account: PaymentAccount,
    order: RefundOrder,
    signal: AbortSignal,
  ): Promise<FactOfPayment & { kind: 'refund' }>;
  /** The orders that a payment belongs to, of facts that name payments alone. */
  orderOf(account: PaymentAccount, paymentId: string, signal: AbortSignal): Promise<string | null>;
  /**
   * What a webhook points at, or null where no secret signed these bytes, or it is too old.
   * Throws where what was signed is no event.
   */
  readWebhook(
    body: Uint8Array,
    header: (name: string) => string | undefined,
    secrets: readonly string[],
    nowMs: number,
  ): Pointer | null;
  /** Names of lists that tell what webhooks may have lost, such as `events` or `refunds`. */
  readonly lists: readonly string[];
  /**
   * What is in a list since a moment, the oldest first, at most some hundreds. Fewer than
   * `listedMin` are all that there is; of more the rest is asked for from the last one's time.
   */
  list(account: PaymentAccount, list: string, since: Date, signal: AbortSignal): Promise<Pointer[]>;
  /** Whether the client's proof of a payment is the provider's; null: it has none. */
  readonly checkProof:
    | ((
        account: PaymentAccount,
        proof: { orderId: string; paymentId: string; signature: string },
      ) => boolean)
    | null;
  /** Asks for something that costs nothing. Throws a fault where the account is not usable. */
  test(account: PaymentAccount, signal: AbortSignal): Promise<void>;
}
