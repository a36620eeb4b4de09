// Which purses were lately seen to have far more than one hold. For them the upstream is called
// while the hold is on its way to the disk, which saves most of a database round trip. Nothing is
// delivered before the hold is there; a call whose hold is refused is given up at our expense.

const lifetimeMs = 10_000;
const pursesMax = 10_000;

/** Who is to pay, of which wallet: a key or an account, which may have caps of their own. */
export interface Payer {
  walletId: string;
  accountId: string;
  apiKeyId: string | null;
}

/** Spenders of a wallet are told apart: others may have no cap, or another. */
function purseOf({ walletId, accountId, apiKeyId }: Payer): string {
  return `${walletId} ${apiKeyId ?? accountId}`;
}

export interface FundsEstimate {
  /** Whether a hold of this amount is as good as granted. */
  expectsFunds(payer: Payer, amountMicros: bigint, nowMs: number): boolean;
  saw(payer: Payer, availableMicros: bigint, nowMs: number): void;
  /** The last hold was refused, or the ledger did not answer. */
  forget(payer: Payer): void;
}

/** So many holds must fit into what was seen that concurrent ones hardly change the answer. */
export function createFundsEstimate(holdsMin = 1_000n): FundsEstimate {
  const seen = new Map<string, { availableMicros: bigint; untilMs: number }>();
  return {
    expectsFunds(payer, amountMicros, nowMs) {
      const entry = seen.get(purseOf(payer));
      if (entry === undefined || entry.untilMs < nowMs) return false;
      return entry.availableMicros >= amountMicros * holdsMin;
    },
    saw(payer, availableMicros, nowMs) {
      const purse = purseOf(payer);
      const entry = seen.get(purse);
      const untilMs = nowMs + lifetimeMs;
      if (entry !== undefined) {
        entry.availableMicros = availableMicros;
        entry.untilMs = untilMs;
        return;
      }
      if (seen.size >= pursesMax) seen.clear();
      seen.set(purse, { availableMicros, untilMs });
    },
    forget(payer) {
      seen.delete(purseOf(payer));
    },
  };
}
