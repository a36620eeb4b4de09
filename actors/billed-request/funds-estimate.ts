// Which wallets were lately seen to have far more than one hold. For them the upstream is called
// while the hold is on its way to the disk, which saves most of a database round trip. Nothing is
// delivered before the hold is there; a call whose hold is refused is given up at our expense.

const lifetimeMs = 10_000;
const walletsMax = 10_000;

export interface FundsEstimate {
  /** Whether a hold of this amount is as good as granted. */
  expectsFunds(walletId: string, amountMicros: bigint, nowMs: number): boolean;
  saw(walletId: string, availableMicros: bigint, nowMs: number): void;
  /** The last hold was refused, or the ledger did not answer. */
  forget(walletId: string): void;
}

/** So many holds must fit into what was seen that concurrent ones hardly change the answer. */
export function createFundsEstimate(holdsMin = 1_000n): FundsEstimate {
  const seen = new Map<string, { availableMicros: bigint; untilMs: number }>();
  return {
    expectsFunds(walletId, amountMicros, nowMs) {
      const entry = seen.get(walletId);
      if (entry === undefined || entry.untilMs < nowMs) return false;
      return entry.availableMicros >= amountMicros * holdsMin;
    },
    saw(walletId, availableMicros, nowMs) {
      const entry = seen.get(walletId);
      const untilMs = nowMs + lifetimeMs;
      if (entry !== undefined) {
        entry.availableMicros = availableMicros;
        entry.untilMs = untilMs;
        return;
      }
      if (seen.size >= walletsMax) seen.clear();
      seen.set(walletId, { availableMicros, untilMs });
    },
    forget(walletId) {
      seen.delete(walletId);
    },
  };
}
