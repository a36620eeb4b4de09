// How purchases move by what their providers answer. Whoever applies an answer has the row locked
// and its revision unchanged since before the question: an older answer never undoes a newer one.
import type { Queryable, Transaction } from '../driver/sql.ts';
import { type Purchase, purchaseColumns, type StoredCheckout } from '../purchases.ts';

/** A refund or a dispute, as its provider tells it. */
export interface StoredFact {
  id: string;
  kind: 'refund' | 'dispute';
  state: 'pending' | 'succeeded' | 'failed' | 'inquiry' | 'open' | 'won' | 'lost';
  amountCents: number;
  openedAt: Date;
  /** `rfd_…` of a refund that we asked for. */
  refundId: string | null;
}

/** The row, which nobody else changes until the transaction ends; null: there is none. */
export async function lockPurchase(transaction: Transaction, id: string): Promise<Purchase | null> {
  const [row] = await transaction<Purchase[]>`
    SELECT ${transaction.unsafe(purchaseColumns)} FROM purchases p
    WHERE p.id = ${id} FOR NO KEY UPDATE`;
  return row ?? null;
}

/** Keeps where the provider has the purchase; false: it is not about to be opened any more. */
export async function noteOrder(
  sql: Queryable,
  id: string,
  order: { orderId: string; checkout: StoredCheckout | null; expiresAt: Date | null },
): Promise<boolean> {
  const { orderId, checkout, expiresAt } = order;
  const rows = await sql`
    UPDATE purchases SET provider_order_id = ${orderId}, revision = revision + 1,
      checkout = ${checkout === null ? null : JSON.stringify(checkout)}::text::jsonb,
      status = CASE WHEN status = 'created' THEN 'pending' ELSE status END,
      expires_at = coalesce(${expiresAt}::timestamptz, expires_at)
    WHERE id = ${id} AND (provider_order_id IS NULL OR provider_order_id = ${orderId})
    RETURNING 1`;
  return rows.length > 0;
}

export interface AppliedLook {
  status: 'paid' | 'failed' | 'expired' | null;
  failureCode: string | null;
  payment: {
    id: string;
    amountCents: number;
    taxCents: number;
    purse: string | null;
  } | null;
}

/** Writes what a provider's answer means. The row is locked. */
export async function applyLook(
  transaction: Transaction,
  id: string,
  { status, failureCode, payment }: AppliedLook,
): Promise<void> {
  await transaction`
    UPDATE purchases SET revision = revision + 1,
      status = coalesce(${status}::text, status),
      failure_code = CASE WHEN ${status}::text IS NULL THEN failure_code
        ELSE ${failureCode}::text END,
      provider_payment_id = coalesce(provider_payment_id, ${payment?.id ?? null}::text),
      purse = coalesce(purse, ${payment?.purse ?? null}::text),
      paid_cents = coalesce(paid_cents, ${payment?.amountCents ?? null}::bigint),
      tax_cents = CASE WHEN paid_cents IS NULL THEN ${payment?.taxCents ?? 0}::bigint
        ELSE tax_cents END,
      paid_at = CASE WHEN ${status}::text = 'paid' THEN now() ELSE paid_at END
    WHERE id = ${id}`;
}

/** Ends one that the provider does not know, or whose time is over; false: it is not open. */
export async function endUnpaid(
  sql: Queryable,
  id: string,
  status: 'failed' | 'expired',
  failureCode: string | null,
): Promise<boolean> {
  const rows = await sql`
    UPDATE purchases SET status = ${status}, failure_code = ${failureCode},
      revision = revision + 1
    WHERE id = ${id} AND status IN ('created', 'pending') RETURNING 1`;
  return rows.length > 0;
}

/** Keeps facts as their provider tells them now. */
export async function keepFacts(
  transaction: Transaction,
  provider: string,
  purchaseId: string,
  facts: readonly StoredFact[],
): Promise<void> {
  if (facts.length === 0) return;
  const rows = facts.map(({ id, kind, state, amountCents, openedAt, refundId }) => ({
    object_id: id,
    kind,
    state,
    amount_cents: amountCents,
    opened_at: openedAt.toISOString(),
    refund_id: refundId,
  }));
  await transaction`
    INSERT INTO payment_facts AS f (provider, object_id, purchase_id, kind, state, amount_cents,
      opened_at, refund_id)
    SELECT ${provider}, r.object_id, ${purchaseId}, r.kind, r.state, r.amount_cents, r.opened_at,
      r.refund_id
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) AS r (object_id text, kind text,
      state text, amount_cents bigint, opened_at timestamptz, refund_id text)
    ON CONFLICT (provider, object_id) DO UPDATE SET state = excluded.state,
      amount_cents = excluded.amount_cents, updated_at = now(),
      refund_id = coalesce(f.refund_id, excluded.refund_id)
    WHERE f.purchase_id = excluded.purchase_id`;
}

type FactRow = {
  object_id: string;
  kind: StoredFact['kind'];
  state: StoredFact['state'];
  amount_cents: bigint;
  opened_at: Date;
  refund_id: string | null;
};

export async function listFacts(sql: Queryable, purchaseId: string): Promise<StoredFact[]> {
  const rows = await sql<FactRow[]>`
    SELECT object_id, kind, state, amount_cents, opened_at, refund_id FROM payment_facts
    WHERE purchase_id = ${purchaseId} ORDER BY opened_at, object_id`;
  return rows.map((row) => ({
    id: row.object_id,
    kind: row.kind,
    state: row.state,
    amountCents: Number(row.amount_cents),
    openedAt: row.opened_at,
    refundId: row.refund_id,
  }));
}

export interface NewTarget {
  refundedCents: number;
  disputedCents: number;
  dispute: { state: NonNullable<Purchase['disputeState']>; openedAt: Date } | null;
  targetMicros: bigint;
  reason: 'refund' | 'dispute' | 'restore';
}

/** Writes what facts come to, and the step to there from where the last one led. */
export async function applyTarget(
  transaction: Transaction,
  purchase: Pick<Purchase, 'id' | 'walletId' | 'targetMicros' | 'step'>,
  target: NewTarget,
): Promise<void> {
  const deltaMicros = target.targetMicros - purchase.targetMicros;
  const step = deltaMicros === 0n ? purchase.step : purchase.step + 1;
  const { dispute } = target;
  await transaction`
    UPDATE purchases SET refunded_cents = ${target.refundedCents},
      disputed_cents = ${target.disputedCents}, dispute_state = ${dispute?.state ?? null},
      dispute_opened_at = ${dispute?.openedAt ?? null}, target_micros = ${target.targetMicros},
      step = ${step}, revision = revision + 1
    WHERE id = ${purchase.id}`;
  if (deltaMicros === 0n) return;
  await transaction`
    INSERT INTO purchase_steps (purchase_id, step, wallet_id, micros, reason)
    VALUES (${purchase.id}, ${step}, ${purchase.walletId}, ${deltaMicros}, ${target.reason})`;
}

export interface OpenStep {
  step: number;
  /** Above zero: reversed. Below: restored. */
  micros: bigint;
}

/** Steps of a purchase that are not posted, in their order. */
export async function listOpenSteps(sql: Queryable, purchaseId: string): Promise<OpenStep[]> {
  return sql<OpenStep[]>`
    SELECT step, micros FROM purchase_steps
    WHERE purchase_id = ${purchaseId} AND posted_at IS NULL ORDER BY step`;
}

/** All that was paid has been paid back: the purchase is over. */
export async function noteRefunded(
  sql: Queryable,
  id: string,
  returnedCents: number,
): Promise<boolean> {
  const rows = await sql`
    UPDATE purchases SET status = 'refunded', revision = revision + 1
    WHERE id = ${id} AND status = 'completed' AND paid_cents > 0
      AND ${returnedCents}::bigint >= paid_cents RETURNING 1`;
  return rows.length > 0;
}

/** What is paid and not credited, and what has steps that are not posted. */
export async function listUnposted(sql: Queryable, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    (SELECT id FROM purchases WHERE status = 'paid' ORDER BY paid_at LIMIT ${limit})
    UNION
    (SELECT purchase_id FROM purchase_steps WHERE posted_at IS NULL
     ORDER BY created_at LIMIT ${limit})`;
  return rows.map((row) => row.id);
}

/** Purchases whose provider is to be asked now. */
export async function listDueLooks(sql: Queryable, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM purchases WHERE next_look_at <= now() ORDER BY next_look_at LIMIT ${limit}`;
  return rows.map((row) => row.id);
}

/** When it is asked about next; null: nobody has to. */
export async function planLook(
  sql: Queryable,
  id: string,
  looks: number,
  nextLookAt: Date | null,
): Promise<void> {
  await sql`
    UPDATE purchases SET looks = ${looks}, next_look_at = ${nextLookAt} WHERE id = ${id}`;
}

export interface NewAnomaly {
  id: string;
  provider: string;
  objectId: string;
  kind: string;
  purchaseId: string | null;
  details: Record<string, string | number>;
}

/** Keeps what somebody has to look at; false: it is known. */
export async function keepAnomaly(sql: Queryable, anomaly: NewAnomaly): Promise<boolean> {
  const { id, provider, objectId, kind, purchaseId, details } = anomaly;
  const rows = await sql`
    INSERT INTO payment_anomalies (id, provider, object_id, kind, purchase_id, details)
    VALUES (${id}, ${provider}, ${objectId}, ${kind}, ${purchaseId},
      ${JSON.stringify(details)}::text::jsonb)
    ON CONFLICT (provider, object_id, kind) DO NOTHING RETURNING 1`;
  return rows.length > 0;
}
