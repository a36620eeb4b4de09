// What an administrator takes back, as the API asks for it. The audit event is written with the
// money in one statement: what is refused leaves none, and no crash parts them.
import { isDeepStrictEqual } from 'node:util';
import { findOperationEvent, type NewAuditEvent } from '../../db/audit-events.ts';
import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import { findGrantKind, findWallet } from '../../db/journal.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import { operation } from './ledger.ts';
import { ledgerLimits } from './limits.ts';
import type { DebitReply, RevokeReply, WalletProtocol } from './protocol.ts';

/** Who takes back, and of which wallet. */
interface Order {
  /** The id of the event, when this is the first time. */
  eventId: string;
  /** The administrator's account. */
  actor: string;
  walletId: string;
}

export interface Revocation extends Order {
  grantId: string;
  reason: string;
}

export type RevocationReply = RevokeReply | { status: 'grant_not_found' | 'not_a_promotion' };

/**
 * Revokes a promotion, or finds what was taken when that was done; the first reason is kept.
 * Rejects when the database does not answer.
 */
export async function revokePromotion(
  sql: Sql,
  wallet: ActorRef<WalletProtocol>,
  { eventId: id, actor, walletId, grantId, reason }: Revocation,
): Promise<RevocationReply> {
  const looked = Promise.all([findWallet(sql, walletId), findGrantKind(sql, walletId, grantId)]);
  const [owner, kind] = await withDeadline(looked);
  if (owner === null) return { status: 'wallet_not_found' };
  if (kind === null) return { status: 'grant_not_found' };
  if (kind !== 'promotion') return { status: 'not_a_promotion' };
  const event: NewAuditEvent = {
    id,
    accountId: owner.accountId,
    actor,
    action: 'wallet.revoke',
    subject: `wallet:${walletId}`,
    details: { grant_id: grantId, reason },
    operationId: operation.revoke(grantId),
  };
  const answer = await wallet.ask('revoke', { grantId, event }, ledgerLimits.askTimeoutMs);
  return answer.ok ? answer.value : { status: 'unavailable' };
}

export interface Debit extends Order {
  operationId: string;
  amountMicros: bigint;
  note: string;
}

/** Debits promotions, or finds that they were. Rejects when the database does not answer. */
export async function debitPromotions(
  sql: Sql,
  wallet: ActorRef<WalletProtocol>,
  { eventId: id, actor, walletId, operationId, amountMicros, note }: Debit,
): Promise<DebitReply> {
  const owner = await withDeadline(findWallet(sql, walletId));
  if (owner === null) return { status: 'wallet_not_found' };
  const event: NewAuditEvent = {
    id,
    accountId: owner.accountId,
    actor,
    action: 'wallet.debit',
    subject: `wallet:${walletId}`,
    details: { operation_id: operationId, amount_microcredits: amountMicros.toString(), note },
    operationId,
  };
  const request = { operationId, amountMicros, event };
  const answer = await wallet.ask('debit', request, ledgerLimits.askTimeoutMs);
  if (!answer.ok) return { status: 'unavailable' };
  const reply = answer.value;
  if (reply.status !== 'debited' && reply.status !== 'insufficient') return reply;
  // The wallet knows the amount alone. One that was refused may have been done by another process.
  const told = await withDeadline(findOperationEvent(sql, operationId));
  if (told === null) return reply;
  const isSame =
    told.action === event.action &&
    told.subject === event.subject &&
    isDeepStrictEqual(told.details, event.details);
  if (!isSame) return { status: 'reused' };
  return { status: 'debited', availableMicros: reply.availableMicros };
}
