// Credits that an administrator gives, once per operation id. The audit event is written first and
// claims the id: no grant without its event, though perhaps an event whose grant the wallet never
// got; repeating the operation completes it.
import { isDeepStrictEqual } from 'node:util';
import { findOperationEvent, insertAuditEvent } from '../../db/audit-events.ts';
import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import { findWallet } from '../../db/journal.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import { balanceMicrosMax } from './ledger.ts';
import { ledgerLimits } from './limits.ts';
import type { WalletProtocol } from './protocol.ts';

export interface Promotion {
  /** Of the event, when this is the first time. */
  eventId: string;
  /** The administrator's account. */
  actor: string;
  walletId: string;
  operationId: string;
  amountMicros: bigint;
  expiresAtMs: number | null;
  note: string;
}

export type PromotionReply =
  | { status: 'granted'; grantId: string; availableMicros: bigint }
  /** The operation id was used for something else. */
  | { status: 'reused' }
  | { status: 'expired' | 'too_much' }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

/** Grants the credits, or finds that they were. Rejects when the database does not answer. */
export async function grantPromotion(
  sql: Sql,
  wallet: ActorRef<WalletProtocol>,
  promotion: Promotion,
): Promise<PromotionReply> {
  const refusal = await withDeadline(announce(sql, promotion));
  if (refusal !== null) return refusal;
  const { operationId, amountMicros, expiresAtMs, note } = promotion;
  const request = { operationId, kind: 'promotion', amountMicros, expiresAtMs, note } as const;
  const answer = await wallet.ask('grant', request, ledgerLimits.askTimeoutMs);
  return answer.ok ? answer.value : { status: 'unavailable' };
}

/** Writes the event, unless it is there already; says why there will be no grant. */
async function announce(sql: Sql, promotion: Promotion): Promise<PromotionReply | null> {
  const { walletId, operationId, amountMicros, expiresAtMs, note } = promotion;
  const subject = `wallet:${walletId}`;
  const action = 'wallet.grant';
  const details = {
    operation_id: operationId,
    amount_microcredits: amountMicros.toString(),
    expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
    note,
  };
  const known = await findOperationEvent(sql, operationId);
  if (known === null) {
    const wallet = await findWallet(sql, walletId);
    if (wallet === null) return { status: 'wallet_not_found' };
    if (expiresAtMs !== null && expiresAtMs <= Date.now()) return { status: 'expired' };
    const balanceMicros = wallet.availableMicros + wallet.heldMicros;
    if (balanceMicros + amountMicros > balanceMicrosMax) return { status: 'too_much' };
    const { eventId: id, actor } = promotion;
    const event = { id, accountId: wallet.accountId, actor, action, subject };
    if (await insertAuditEvent(sql, { ...event, details, operationId })) return null;
  }
  const first = known ?? (await findOperationEvent(sql, operationId));
  const isAlike = first?.action === action && first.subject === subject;
  const same = isAlike && isDeepStrictEqual(first.details, details);
  return same ? null : { status: 'reused' };
}
