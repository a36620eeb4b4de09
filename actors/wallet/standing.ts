// How a wallet stands, and for whom: the least of what it has and of what caps leave. Pure.
import { barOf } from './caps.ts';
import { type Count, countsAt, type Tightest, tightestOf } from './counters.ts';
import { lesser, type Wallet } from './funds.ts';
import type { BalanceReply, LookReply, LookRequest, SpendCap } from './protocol.ts';

export function balance(wallet: Wallet): BalanceReply {
  return {
    status: 'ok',
    availableMicros: wallet.balances.walletMicros,
    heldMicros: wallet.balances.heldMicros,
  };
}

/** What a hold may have at this moment, for whom it is. */
export function look(wallet: Wallet, { spender }: LookRequest, nowMs: number): LookReply {
  const { counters } = wallet;
  const { walletMicros, heldMicros } = wallet.balances;
  const bar = barOf(counters?.organization ?? null, spender ?? null);
  if (bar !== null) return { status: 'not_allowed', reason: bar };
  const cap = tightestOf(countsAt(counters, spender, () => nowMs));
  if (cap === null || cap.leftMicros >= walletMicros) return balance(wallet);
  return { status: 'ok', availableMicros: cap.leftMicros, heldMicros, cap: capOf(cap) };
}

/** The least of what the wallet has and what caps leave. */
export function leastOf({ balances }: Wallet, cap: Tightest | null): bigint {
  return cap === null ? balances.walletMicros : lesser(balances.walletMicros, cap.leftMicros);
}

/** So much of it as caps leave beyond what is held. */
export function withinCaps(micros: bigint, counts: readonly Count[]): bigint {
  const cap = tightestOf(counts);
  return cap === null ? micros : lesser(micros, cap.leftMicros);
}

export function capOf({ kind, spender, resetsAtMs }: Tightest): SpendCap {
  return { kind, spender, resetsAtMs };
}
