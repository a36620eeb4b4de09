// What an administrator takes back of a wallet: what one promotion has free, or an amount of all.
// Pure decisions, as in `ledger.ts`; the audit event is a row of the same write.
import type { NewAuditEvent } from '../../db/audit-events.ts';
import {
  freePromotions,
  newestFirst,
  post,
  takeFree,
  type Wallet,
  withdrawGrant,
} from './funds.ts';
import { entryOf, type Known, operation } from './ledger.ts';
import type { DebitReply, DebitRequest, RevokeReply, RevokeRequest } from './protocol.ts';

/** The operation that a request is. */
export function takenAs(request: RevokeRequest | DebitRequest): string {
  return 'grantId' in request ? operation.revoke(request.grantId) : request.operationId;
}

/**
 * Takes what the promotion has free now. Holds keep what they have of it, and may be charged to it.
 * What they give back is taken back at once: no second call could take it.
 */
export function revoke(wallet: Wallet, request: RevokeRequest, known: Known): RevokeReply {
  const { grantId, event } = request;
  const operationId = takenAs(request);
  const done = entryOf(wallet, operationId, known);
  if (done !== null) return { status: 'revoked', revokedMicros: -done.legs.walletMicros };
  const revokedMicros = withdrawGrant(wallet, grantId);
  // Also of nothing: a repetition finds that it was done.
  giveBack(wallet, operationId, 'revoke', revokedMicros, event);
  return { status: 'revoked', revokedMicros };
}

/** Takes the amount from what promotions have free, the newest first, or nothing. */
export function debit(wallet: Wallet, request: DebitRequest, known: Known): DebitReply {
  const { operationId, amountMicros, event } = request;
  const done = entryOf(wallet, operationId, known);
  if (done !== null) {
    const isSame = done.kind === 'debit' && done.legs.walletMicros === -amountMicros;
    if (!isSame) return { status: 'reused' };
    return { status: 'debited', availableMicros: wallet.balances.walletMicros };
  }
  if (known.taken.has(operationId)) return { status: 'reused' };
  const freeMicros = freePromotions(wallet);
  if (amountMicros > freeMicros) {
    return { status: 'insufficient', freeMicros, availableMicros: wallet.balances.walletMicros };
  }
  takeFree(wallet, newestFirst(wallet, 'promotion'), amountMicros);
  giveBack(wallet, operationId, 'debit', amountMicros, event);
  return { status: 'debited', availableMicros: wallet.balances.walletMicros };
}

/** To where promotions come from, with the event that tells of it. */
function giveBack(
  wallet: Wallet,
  operationId: string,
  kind: 'revoke' | 'debit',
  micros: bigint,
  event: NewAuditEvent,
): void {
  post(wallet, operationId, kind, { walletMicros: -micros, promotionMicros: micros });
  const details = { ...event.details, amount_microcredits: micros.toString() };
  wallet.changes.owned.set('audit_rows', event.id, { ...event, operationId, details });
}
