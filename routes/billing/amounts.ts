// Money as it stands in replies: every amount twice, as a number and exact as a string.
import type { LedgerLine } from '../../db/billing/ledger.ts';
import type { ActiveReservation, BillingGrant } from '../../db/billing.ts';
import type { SettledFigures } from '../../db/usage.ts';

const microsPerCredit = 1_000_000;

/** The members of one amount, such as `held_microcredits` and `held_exact`. */
export function amount(name: string, micros: bigint): Record<string, number | string> {
  return { [`${name}_microcredits`]: Number(micros), [`${name}_exact`]: micros.toString() };
}

/** What a wallet has: the members of `walletEntries`. */
export function walletBody(wallet: {
  id: string;
  type: string;
  availableMicros: bigint;
  heldMicros: bigint;
  /** What caps leave of it; left out: there are none. */
  leftMicros?: bigint | null;
}): Record<string, unknown> {
  const balanceMicros = wallet.availableMicros + wallet.heldMicros;
  return {
    id: wallet.id,
    type: wallet.type,
    ...amount('balance', balanceMicros),
    ...amount('available', leastOf(wallet.availableMicros, wallet.leftMicros ?? null)),
    ...amount('held', wallet.heldMicros),
    balance_credits: Number(balanceMicros) / microsPerCredit,
  };
}

function leastOf(fundsMicros: bigint, leftMicros: bigint | null): bigint {
  return leftMicros === null || leftMicros > fundsMicros ? fundsMicros : leftMicros;
}

export function grantBody(grant: BillingGrant): Record<string, unknown> {
  return {
    id: grant.id,
    kind: grant.kind,
    note: grant.note,
    ...amount('amount', grant.amountMicros),
    ...amount('remaining', grant.remainingMicros),
    expires_at: grant.expiresAt?.toISOString() ?? null,
    created_at: grant.createdAt.toISOString(),
  };
}

export function reservationBody(row: ActiveReservation): Record<string, unknown> {
  return {
    id: row.id,
    ...amount('amount', row.amountMicros),
    request_id: row.ownerId,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  };
}

/** What was settled of something; its charge is whole. */
export function usageBody(row: SettledFigures): Record<string, unknown> {
  return {
    requests: Number(row.settled),
    input_tokens: Number(row.input_tokens),
    cached_input_tokens: Number(row.cached_input_tokens),
    cache_write_tokens: Number(row.cache_write_tokens),
    output_tokens: Number(row.output_tokens),
    reasoning_tokens: Number(row.reasoning_tokens),
    ...amount('charge', row.charge_micros),
  };
}

export function ledgerLineBody(line: LedgerLine): Record<string, unknown> {
  return {
    kind: line.kind,
    ...amount('amount', line.amountMicros),
    reference: line.reference,
    at: line.at.toISOString(),
  };
}
