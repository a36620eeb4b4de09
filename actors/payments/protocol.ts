// Every message of payments on one screen. The desk is the main thread's: providers are asked from
// there, by one purchase at a time.

export type AskedOutcome =
  /** `decided`: it is paid, or over. `undecided`: nobody has paid yet. */
  { status: 'decided' | 'undecided' } | { status: 'bad_proof' | 'not_found' | 'unavailable' };

export type OpenedOutcome = { status: 'opened' | 'ended' | 'unavailable' };

export type RefundOutcome =
  | { status: 'asked'; refundId: string }
  | { status: 'not_found' | 'not_refundable' | 'disputed' | 'reused' | 'unavailable' }
  | { status: 'too_much'; leftCents: number }
  | { status: 'credits_spent'; missingMicros: bigint };

export interface TestOutcome {
  ok: boolean;
  /** What an administrator can do something about; null: it works. */
  reason: string | null;
}

export type PaymentDeskProtocol = {
  /** Its row is committed: opens its checkout, and closes those that are too many beside it. */
  open: (request: { purchaseId: string }) => OpenedOutcome;
  /** Asks the provider; with a proof of the client, which is checked first. */
  settle: (request: {
    purchaseId: string;
    proof: { paymentId: string; signature: string } | null;
  }) => AskedOutcome;
  /** Something is stored: the inbox is looked at now. */
  arrived: (nothing: null) => undefined;
  /** A wallet has less than its account wants. */
  low: (request: { accountId: string; walletId: string }) => undefined;
  refund: (request: {
    purchaseId: string;
    operationId: string;
    amountCents: number | null;
    reason: string;
    actor: string;
    force: boolean;
  }) => RefundOutcome;
  /** Whether a provider's account can be used; a short reason where it cannot. */
  test: (request: { provider: string }) => TestOutcome;
};
