// Purchases as they are made and read. A provider's answers move them (`purchases/moves.ts`), and
// the ledger's statement completes them. Amounts of money are in minor units of the currency.
import type { Queryable, Transaction } from './driver/sql.ts';

export type PurchaseStatus =
  | 'created'
  | 'pending'
  | 'paid'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'refunded';
export type PurchaseKind = 'checkout' | 'auto' | 'free';

/** What a client needs for paying. */
export type StoredCheckout =
  | { type: 'redirect'; url: string; expires_at: string }
  | {
      type: 'razorpay';
      key_id: string;
      order_id: string;
      amount: number;
      currency: string;
      expires_at: string;
    };

export interface Purchase {
  id: string;
  accountId: string;
  walletId: string;
  packageId: string;
  status: PurchaseStatus;
  kind: PurchaseKind;
  provider: string | null;
  providerKind: 'stripe' | 'razorpay' | null;
  orderId: string | null;
  paymentId: string | null;
  checkout: StoredCheckout | null;
  returnPath: string | null;
  savesPaymentMethod: boolean;
  fingerprint: Buffer | null;
  creditsMicros: bigint;
  priceCents: bigint;
  currency: string;
  paidCents: bigint | null;
  taxCents: bigint;
  refundedCents: bigint;
  disputedCents: bigint;
  targetMicros: bigint;
  step: number;
  reversedMicros: bigint;
  debtMicros: bigint;
  disputeState: 'inquiry' | 'open' | 'won' | 'lost' | null;
  disputeOpenedAt: Date | null;
  failureCode: string | null;
  /** Null: there is no invoice yet, or none is made of it. */
  invoiceNumber: string | null;
  createdAt: Date;
  paidAt: Date | null;
  completedAt: Date | null;
  expiresAt: Date | null;
  looks: number;
  revision: number;
}

const members = [
  ['id', 'id'],
  ['account_id', 'accountId'],
  ['wallet_id', 'walletId'],
  ['package_id', 'packageId'],
  ['status', 'status'],
  ['kind', 'kind'],
  ['provider', 'provider'],
  ['provider_kind', 'providerKind'],
  ['provider_order_id', 'orderId'],
  ['provider_payment_id', 'paymentId'],
  ['checkout', 'checkout'],
  ['return_path', 'returnPath'],
  ['save_payment_method', 'savesPaymentMethod'],
  ['fingerprint', 'fingerprint'],
  ['credits_micros', 'creditsMicros'],
  ['price_cents', 'priceCents'],
  ['currency', 'currency'],
  ['paid_cents', 'paidCents'],
  ['tax_cents', 'taxCents'],
  ['refunded_cents', 'refundedCents'],
  ['disputed_cents', 'disputedCents'],
  ['target_micros', 'targetMicros'],
  ['step', 'step'],
  ['reversed_micros', 'reversedMicros'],
  ['debt_micros', 'debtMicros'],
  ['dispute_state', 'disputeState'],
  ['dispute_opened_at', 'disputeOpenedAt'],
  ['failure_code', 'failureCode'],
  ['invoice_number', 'invoiceNumber'],
  ['created_at', 'createdAt'],
  ['paid_at', 'paidAt'],
  ['completed_at', 'completedAt'],
  ['expires_at', 'expiresAt'],
  ['looks', 'looks'],
  ['revision', 'revision'],
] as const satisfies readonly (readonly [column: string, member: keyof Purchase])[];

/** Columns of `p`, by the names of the members. */
export const purchaseColumns = members
  .map(([column, member]) => `p.${column} AS "${member}"`)
  .join(', ');

export interface NewPurchase {
  /** `pur_…` */
  id: string;
  accountId: string;
  walletId: string;
  packageId: string;
  kind: PurchaseKind;
  provider: string | null;
  providerKind: 'stripe' | 'razorpay' | null;
  returnPath: string | null;
  savesPaymentMethod: boolean;
  /** The client's idempotency key, and what it asked for under it. */
  key: { text: string; fingerprint: Uint8Array } | null;
  creditsMicros: bigint;
  priceCents: bigint;
  currency: string;
  status: 'created' | 'paid';
  expiresAt: Date | null;
  /** When its provider is asked for the first time without a call of it; null: nobody is. */
  nextLookAt: Date | null;
}

/** Makes the row; false: the account has one of this key, or had the package for nothing. */
export async function insertPurchase(sql: Queryable, purchase: NewPurchase): Promise<boolean> {
  const { key } = purchase;
  const rows = await sql`
    INSERT INTO purchases (id, account_id, wallet_id, package_id, kind, provider, provider_kind,
      return_path, save_payment_method, idempotency_key, fingerprint, credits_micros, price_cents,
      currency, status, expires_at, next_look_at, paid_cents, paid_at)
    VALUES (${purchase.id}, ${purchase.accountId}, ${purchase.walletId}, ${purchase.packageId},
      ${purchase.kind}, ${purchase.provider}, ${purchase.providerKind}, ${purchase.returnPath},
      ${purchase.savesPaymentMethod}, ${key?.text ?? null}, ${key?.fingerprint ?? null},
      ${purchase.creditsMicros}, ${purchase.priceCents}, ${purchase.currency}, ${purchase.status},
      ${purchase.expiresAt}, ${purchase.nextLookAt},
      ${purchase.status === 'paid' ? 0 : null}::bigint,
      ${purchase.status === 'paid' ? new Date() : null}::timestamptz)
    ON CONFLICT DO NOTHING RETURNING 1`;
  return rows.length > 0;
}

/** How long a client's key names its purchase. */
const keyKeptHours = 24;

/** What the account's key names; a key that is older names nothing any more. */
export async function findKeyedPurchase(
  transaction: Transaction,
  accountId: string,
  key: string,
): Promise<Purchase | null> {
  await transaction`
    UPDATE purchases SET idempotency_key = NULL
    WHERE account_id = ${accountId} AND idempotency_key = ${key}
      AND created_at < now() - make_interval(hours => ${keyKeptHours})`;
  const [row] = await transaction<Purchase[]>`
    SELECT ${transaction.unsafe(purchaseColumns)} FROM purchases p
    WHERE p.account_id = ${accountId} AND p.idempotency_key = ${key}`;
  return row ?? null;
}

export async function findPurchase(sql: Queryable, id: string): Promise<Purchase | null> {
  const [row] = await sql<Purchase[]>`
    SELECT ${sql.unsafe(purchaseColumns)} FROM purchases p WHERE p.id = ${id}`;
  return row ?? null;
}

/** The same for its owner alone. */
export async function findOwnPurchase(
  sql: Queryable,
  accountId: string,
  id: string,
): Promise<Purchase | null> {
  const found = await findPurchase(sql, id);
  return found?.accountId === accountId ? found : null;
}

/** The purchase that a provider's object belongs to: an order, or a payment that was counted. */
export async function findPurchaseOf(
  sql: Queryable,
  provider: string,
  { orderId, paymentId }: { orderId: string | null; paymentId: string | null },
): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM purchases WHERE provider = ${provider} AND provider_order_id = ${orderId}
    UNION ALL
    SELECT id FROM purchases WHERE provider = ${provider} AND provider_payment_id = ${paymentId}
    LIMIT 1`;
  return row?.id ?? null;
}

/** Purchases of an account, newest first, older than `cursor` (an id). */
export async function listPurchases(
  sql: Queryable,
  accountId: string,
  limit: number,
  cursor: string | null,
): Promise<{ purchases: Purchase[]; nextCursor: string | null }> {
  const rows = await sql<Purchase[]>`
    SELECT ${sql.unsafe(purchaseColumns)} FROM purchases p
    WHERE p.account_id = ${accountId} AND (${cursor}::text IS NULL OR p.id < ${cursor}::text)
    ORDER BY p.id DESC LIMIT ${limit + 1}`;
  const purchases = rows.slice(0, limit);
  return { purchases, nextCursor: rows.length > limit ? (purchases.at(-1)?.id ?? null) : null };
}

export interface PurchaseFilter {
  accountId: string | null;
  status: PurchaseStatus[] | null;
  provider: string | null;
}

/** Purchases of everybody, as an administrator lists them. */
export async function searchPurchases(
  sql: Queryable,
  { accountId, status, provider }: PurchaseFilter,
  limit: number,
  cursor: string | null,
): Promise<{ purchases: Purchase[]; nextCursor: string | null }> {
  const rows = await sql<Purchase[]>`
    SELECT ${sql.unsafe(purchaseColumns)} FROM purchases p
    WHERE (${cursor}::text IS NULL OR p.id < ${cursor}::text)
      AND (${accountId}::text IS NULL OR p.account_id = ${accountId}::text)
      AND (${status}::text[] IS NULL OR p.status = ANY (${status}::text[]))
      AND (${provider}::text IS NULL OR p.provider = ${provider}::text)
    ORDER BY p.id DESC LIMIT ${limit + 1}`;
  const purchases = rows.slice(0, limit);
  return { purchases, nextCursor: rows.length > limit ? (purchases.at(-1)?.id ?? null) : null };
}

/** Purchases that an account made within so many hours. */
export async function countRecentPurchases(
  sql: Queryable,
  accountId: string,
  hours: number,
): Promise<number> {
  const [row] = await sql<{ count: bigint }[]>`
    SELECT count(*) AS count FROM purchases
    WHERE account_id = ${accountId} AND kind = 'checkout'
      AND created_at > now() - make_interval(hours => ${hours})`;
  return Number(row?.count ?? 0);
}

/** Open ones beyond so many, the oldest first: their account began another. */
export async function listOpenBeyond(
  sql: Queryable,
  accountId: string,
  openMax: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM purchases
    WHERE account_id = ${accountId} AND status IN ('created', 'pending') AND kind = 'checkout'
    ORDER BY created_at DESC, id DESC OFFSET ${openMax}`;
  return rows.map((row) => row.id).reverse();
}

/** What the account pays with, or null where it never decided. */
export async function findInstallation(sql: Queryable): Promise<string> {
  const [row] = await sql<{ id: string }[]>`SELECT id FROM installation`;
  if (row === undefined) throw new Error('the installation has no name');
  return row.id;
}
