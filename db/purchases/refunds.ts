// Refunds that administrators ask for: first the credits go, then the money. The row is kept before
// anything of it is done, and says how far it has come.
import type { Queryable, Transaction } from '../driver/sql.ts';

export type RefundState = 'reversing' | 'submitted' | 'succeeded' | 'failed';

export interface Refund {
  /** `rfd_…`: the provider does it once under this. */
  id: string;
  purchaseId: string;
  operationId: string;
  amountCents: bigint;
  reason: string;
  actor: string;
  state: RefundState;
  providerRefundId: string | null;
  failureCode: string | null;
  tries: number;
  createdAt: Date;
  updatedAt: Date;
}

const columns = `r.id, r.purchase_id AS "purchaseId", r.operation_id AS "operationId",
  r.amount_cents AS "amountCents", r.reason, r.actor, r.state,
  r.provider_refund_id AS "providerRefundId", r.failure_code AS "failureCode", r.tries,
  r.created_at AS "createdAt", r.updated_at AS "updatedAt"`;

export async function insertRefund(
  transaction: Transaction,
  refund: Pick<Refund, 'id' | 'purchaseId' | 'operationId' | 'amountCents' | 'reason' | 'actor'>,
): Promise<void> {
  const { id, purchaseId, operationId, amountCents, reason, actor } = refund;
  await transaction`
    INSERT INTO refunds (id, purchase_id, operation_id, amount_cents, reason, actor)
    VALUES (${id}, ${purchaseId}, ${operationId}, ${amountCents}, ${reason}, ${actor})`;
}

export async function findRefundOf(sql: Queryable, operationId: string): Promise<Refund | null> {
  const [row] = await sql<Refund[]>`
    SELECT ${sql.unsafe(columns)} FROM refunds r WHERE r.operation_id = ${operationId}`;
  return row ?? null;
}

export async function findRefund(sql: Queryable, id: string): Promise<Refund | null> {
  const [row] = await sql<
    Refund[]
  >`SELECT ${sql.unsafe(columns)} FROM refunds r WHERE r.id = ${id}`;
  return row ?? null;
}

/** Refunds of a purchase, the oldest first. */
export async function listRefunds(sql: Queryable, purchaseId: string): Promise<Refund[]> {
  return sql<Refund[]>`
    SELECT ${sql.unsafe(columns)} FROM refunds r WHERE r.purchase_id = ${purchaseId} ORDER BY r.id`;
}

/** Takes refunds that are due, each for one worker until the lease is over. */
export async function takeRefunds(
  sql: Queryable,
  limit: number,
  leaseMs: number,
): Promise<Refund[]> {
  return sql<Refund[]>`
    WITH due AS (
      SELECT id FROM refunds WHERE state IN ('reversing', 'submitted') AND next_try_at <= now()
      ORDER BY next_try_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED)
    UPDATE refunds r SET next_try_at = now() + ${leaseMs}::float8 * interval '1 ms'
    FROM due d WHERE r.id = d.id RETURNING ${sql.unsafe(columns)}`;
}

/** Moves a refund on; null where it is over already. A failed one is not said to have gone. */
export async function moveRefund(
  sql: Queryable,
  id: string,
  move: {
    state: Exclude<RefundState, 'reversing'>;
    providerRefundId: string | null;
    failureCode: string | null;
  },
): Promise<boolean> {
  const rows = await sql`
    UPDATE refunds SET state = ${move.state}, updated_at = now(),
      provider_refund_id = coalesce(${move.providerRefundId}::text, provider_refund_id),
      failure_code = ${move.failureCode}
    WHERE id = ${id} AND state IN ('reversing', 'submitted') AND state <> ${move.state}
    RETURNING 1`;
  return rows.length > 0;
}

/** The provider did not answer: it is asked again then. */
export async function delayRefund(sql: Queryable, id: string, delayMs: number): Promise<void> {
  await sql`
    UPDATE refunds SET tries = tries + 1, updated_at = now(),
      next_try_at = now() + ${delayMs}::float8 * interval '1 ms'
    WHERE id = ${id} AND state IN ('reversing', 'submitted')`;
}
