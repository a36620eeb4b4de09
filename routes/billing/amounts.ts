// Money as it stands in replies: every amount twice, as a number and exact as a string.
import type { ActiveReservation, BillingGrant } from '../../db/billing.ts';

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
}): Record<string, unknown> {
  const balanceMicros = wallet.availableMicros + wallet.heldMicros;
  return {
    id: wallet.id,
    type: wallet.type,
    ...amount('balance', balanceMicros),
    ...amount('available', wallet.availableMicros),
    ...amount('held', wallet.heldMicros),
    balance_credits: Number(balanceMicros) / microsPerCredit,
  };
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
