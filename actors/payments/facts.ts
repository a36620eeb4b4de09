// What a provider's answer means for a purchase. Pure: the row and the answer come in, what is to
// be done goes out. The same facts lead to the same state, in whatever order they are told.
import type { FactOfPayment, Payment, PaymentLook } from '../../media/payments/contract.ts';

export type PurchaseStatus =
  | 'created'
  | 'pending'
  | 'paid'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'refunded';

export type DisputeState = 'inquiry' | 'open' | 'won' | 'lost';

/** What of a purchase's row the facts depend on. */
export interface JudgedPurchase {
  id: string;
  status: PurchaseStatus;
  priceCents: number;
  currency: string;
  /** The payment that was counted; null: none was yet. */
  paymentId: string | null;
}

/** What was paid and is not credited: somebody has to look at it. */
export interface Anomaly {
  kind:
    | 'wrong_purchase'
    | 'wrong_installation'
    | 'wrong_amount'
    | 'wrong_currency'
    | 'second_payment';
  /** The provider's object. */
  objectId: string;
  details: Record<string, string | number>;
}

export interface Judgement {
  /** What it moves to; null: it stays. */
  status: 'paid' | 'failed' | 'expired' | null;
  failureCode: string | null;
  /** What counts; null: nothing went through that may be counted. */
  payment: Payment | null;
  toCapture: PaymentLook['toCapture'];
  anomalies: Anomaly[];
  /** Nobody has paid, and somebody still can. */
  isOpen: boolean;
  /** A payment is being made: nothing is closed now. */
  isUnderWay: boolean;
}

type Judged = Pick<PaymentLook, 'mark' | 'state' | 'payments' | 'toCapture' | 'failureCode'>;

/** From all states but these two money that comes counts, however late. */
const paidAlready: ReadonlySet<PurchaseStatus> = new Set(['completed', 'refunded']);

/** Applies the answer of a provider to a purchase. */
export function judge(
  purchase: JudgedPurchase,
  orderId: string,
  look: Judged,
  installation: string,
): Judgement {
  const foreign = foreignMark(purchase, orderId, look, installation);
  if (foreign !== null) {
    // Only what was paid is anybody's concern.
    const anomalies = look.payments.length + look.toCapture.length > 0 ? [foreign] : [];
    return { ...nothing, anomalies };
  }
  const { payment, anomalies } = countedOf(purchase, look.payments);
  const status = statusAfter(purchase, look, payment);
  const toCapture = payment === null ? capturable(purchase, look, anomalies) : [];
  return {
    status,
    failureCode: status === 'failed' ? (look.failureCode ?? 'declined') : null,
    payment,
    toCapture,
    anomalies,
    isOpen: look.state === 'open' && payment === null,
    isUnderWay: look.state === 'under_way' && payment === null,
  };
}

const nothing: Judgement = {
  status: null,
  failureCode: null,
  payment: null,
  toCapture: [],
  anomalies: [],
  isOpen: false,
  isUnderWay: false,
};

/** Another purchase's object, or another installation's, is none of ours. */
function foreignMark(
  { id }: JudgedPurchase,
  objectId: string,
  { mark }: Judged,
  installation: string,
): Anomaly | null {
  if (mark === null || mark.purchaseId !== id) {
    const details = { marked: mark?.purchaseId ?? '' };
    return { kind: 'wrong_purchase', objectId, details };
  }
  if (mark.installation === installation) return null;
  return { kind: 'wrong_installation', objectId, details: { marked: mark.installation } };
}

/** The one that counts: what was counted before, else the first that is what was asked for. */
function countedOf(
  purchase: JudgedPurchase,
  payments: readonly Payment[],
): { payment: Payment | null; anomalies: Anomaly[] } {
  const counted =
    purchase.paymentId === null
      ? payments.find((each) => faultOf(purchase, each) === null)
      : payments.find(({ id }) => id === purchase.paymentId);
  const hasOne = counted !== undefined || purchase.paymentId !== null;
  const anomalies = payments.flatMap((payment): Anomaly[] => {
    if (payment === counted) return [];
    const { id: objectId, amountCents, currency } = payment;
    const details = { amount_cents: amountCents, currency };
    const kind = faultOf(purchase, payment) ?? (hasOne ? 'second_payment' : null);
    return kind === null ? [] : [{ kind, objectId, details }];
  });
  return { payment: counted ?? null, anomalies };
}

/** Amounts are compared less the tax that the provider tells. */
function faultOf(
  { priceCents, currency }: JudgedPurchase,
  payment: Pick<Payment, 'amountCents' | 'currency'> & { taxCents?: number },
): 'wrong_amount' | 'wrong_currency' | null {
  if (payment.currency !== currency) return 'wrong_currency';
  return payment.amountCents - (payment.taxCents ?? 0) === priceCents ? null : 'wrong_amount';
}

function statusAfter(
  { status }: JudgedPurchase,
  look: Judged,
  payment: Payment | null,
): Judgement['status'] {
  if (paidAlready.has(status) || status === 'paid') return null;
  if (payment !== null) return 'paid';
  if (status !== 'created' && status !== 'pending') return null;
  // Somebody paid what is wrong: it is over for the client, and refunded by hand.
  if (look.state === 'paid') return 'failed';
  if (look.state === 'declined') return 'failed';
  return look.state === 'closed' ? 'expired' : null;
}

/** What waits to be captured, once, if it is what was asked for. */
function capturable(
  purchase: JudgedPurchase,
  { toCapture }: Judged,
  anomalies: Anomaly[],
): PaymentLook['toCapture'] {
  const [first, ...others] = toCapture.filter((each) => faultOf(purchase, each) === null);
  for (const each of toCapture) {
    const { paymentId: objectId, amountCents, currency } = each;
    const kind = faultOf(purchase, each) ?? (others.includes(each) ? 'second_payment' : null);
    const details = { amount_cents: amountCents, currency };
    if (kind !== null) anomalies.push({ kind, objectId, details });
  }
  return first === undefined || purchase.paymentId !== null ? [] : [first];
}

/** A refund that we asked for, and that the provider may not tell of yet. */
export interface PlannedRefund {
  id: string;
  amountCents: number;
  providerRefundId: string | null;
}

export interface FactSums {
  /** Refunds that have not failed, also those that are on their way. */
  refundedCents: number;
  /** Refunds that have arrived. */
  returnedCents: number;
  disputedCents: number;
  dispute: { state: DisputeState; openedAt: Date } | null;
}

/** What facts come to. Refunds of ours count from when they were asked for, once each. */
export function sumFacts(
  facts: readonly FactOfPayment[],
  planned: readonly PlannedRefund[],
): FactSums {
  const sums: FactSums = { refundedCents: 0, returnedCents: 0, disputedCents: 0, dispute: null };
  const told = new Set<string>();
  for (const { id, refundId, kind, state, amountCents, openedAt } of facts) {
    told.add(id);
    if (refundId !== null) told.add(refundId);
    if (kind === 'refund') {
      if (state !== 'failed') sums.refundedCents += amountCents;
      if (state === 'succeeded') sums.returnedCents += amountCents;
      continue;
    }
    if (state === 'open' || state === 'lost') sums.disputedCents += amountCents;
    const dispute = { state: state as DisputeState, openedAt };
    if (sums.dispute === null || outranks(dispute, sums.dispute)) sums.dispute = dispute;
  }
  for (const { id, providerRefundId, amountCents } of planned) {
    const isTold = told.has(id) || (providerRefundId !== null && told.has(providerRefundId));
    if (!isTold) sums.refundedCents += amountCents;
  }
  return sums;
}

const ranks: Readonly<Record<DisputeState, number>> = { lost: 3, open: 2, won: 1, inquiry: 0 };

/** The worst is shown; of equal ones the latest. */
function outranks(a: NonNullable<FactSums['dispute']>, b: NonNullable<FactSums['dispute']>) {
  const rank = ranks[a.state] - ranks[b.state];
  return rank > 0 || (rank === 0 && a.openedAt > b.openedAt);
}

/** What of a purchase's credits facts reverse, in microcredits: rounded up, and never all twice. */
export function targetMicros(
  creditsMicros: bigint,
  paidCents: number,
  { refundedCents, disputedCents }: Pick<FactSums, 'refundedCents' | 'disputedCents'>,
): bigint {
  if (paidCents === 0) return 0n;
  const lostCents = BigInt(Math.min(paidCents, refundedCents + disputedCents));
  const paid = BigInt(paidCents);
  return (creditsMicros * lostCents + paid - 1n) / paid;
}

/** Why a step is posted, as the customer's ledger calls it. */
export function reasonOf(
  deltaMicros: bigint,
  before: Pick<FactSums, 'disputedCents'>,
  after: Pick<FactSums, 'disputedCents'>,
): 'refund' | 'dispute' | 'restore' {
  if (deltaMicros < 0n) return 'restore';
  return after.disputedCents > before.disputedCents ? 'dispute' : 'refund';
}
