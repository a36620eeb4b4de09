// What a person decided about its money: whose name is on invoices, and when credits are bought
// without it. An account that decided nothing has no row.
import type { Queryable, Sql, Transaction } from '../driver/sql.ts';

export interface BillingProfile {
  name: string | null;
  address: string | null;
  country: string | null;
  tax_id: string | null;
}

export interface SavedMethod {
  /** The name of the provider's record. */
  provider: string;
  customerId: string;
  paymentMethodId: string;
  brand: string | null;
  last4: string | null;
}

export interface BillingSettings {
  accountId: string;
  profile: BillingProfile | null;
  auto: {
    enabled: boolean;
    thresholdMicros: bigint | null;
    packageSlug: string | null;
    perDayMax: number;
    monthMaxCents: bigint | null;
    /** Null: it is not paused. */
    pausedReason: string | null;
    tries: number;
    nextAt: Date | null;
  };
  method: SavedMethod | null;
}

type Row = {
  account_id: string;
  profile: BillingProfile | null;
  auto_enabled: boolean;
  auto_threshold_micros: bigint | null;
  auto_package_slug: string | null;
  auto_per_day_max: number;
  auto_month_max_cents: bigint | null;
  auto_paused_reason: string | null;
  auto_tries: number;
  auto_next_at: Date | null;
  provider: string | null;
  provider_customer_id: string | null;
  payment_method_id: string | null;
  card_brand: string | null;
  card_last4: string | null;
};

function readRow(row: Row): BillingSettings {
  const { provider, provider_customer_id: customerId, payment_method_id: methodId } = row;
  const hasMethod = provider !== null && customerId !== null && methodId !== null;
  return {
    accountId: row.account_id,
    profile: row.profile,
    auto: {
      enabled: row.auto_enabled,
      thresholdMicros: row.auto_threshold_micros,
      packageSlug: row.auto_package_slug,
      perDayMax: row.auto_per_day_max,
      monthMaxCents: row.auto_month_max_cents,
      pausedReason: row.auto_paused_reason,
      tries: row.auto_tries,
      nextAt: row.auto_next_at,
    },
    method: hasMethod
      ? {
          provider,
          customerId,
          paymentMethodId: methodId,
          brand: row.card_brand,
          last4: row.card_last4,
        }
      : null,
  };
}

export const autoPerDayDefault = 3;

/** The settings of an account that decided nothing. */
export function noSettings(accountId: string): BillingSettings {
  return {
    accountId,
    profile: null,
    auto: {
      enabled: false,
      thresholdMicros: null,
      packageSlug: null,
      perDayMax: autoPerDayDefault,
      monthMaxCents: null,
      pausedReason: null,
      tries: 0,
      nextAt: null,
    },
    method: null,
  };
}

export async function findSettings(sql: Queryable, accountId: string): Promise<BillingSettings> {
  const [row] = await sql<Row[]>`
    SELECT * FROM billing_settings WHERE account_id = ${accountId}`;
  return row === undefined ? noSettings(accountId) : readRow(row);
}

export interface AutoDecision {
  enabled: boolean;
  thresholdMicros: bigint;
  packageSlug: string;
  perDayMax: number;
  monthMaxCents: bigint | null;
}

/** Decides about charges without the person. A decision ends a pause. */
export async function decideAuto(
  sql: Queryable,
  accountId: string,
  auto: AutoDecision,
): Promise<void> {
  await sql`
    INSERT INTO billing_settings (account_id, auto_enabled, auto_threshold_micros,
      auto_package_slug, auto_per_day_max, auto_month_max_cents)
    VALUES (${accountId}, ${auto.enabled}, ${auto.thresholdMicros}, ${auto.packageSlug},
      ${auto.perDayMax}, ${auto.monthMaxCents})
    ON CONFLICT (account_id) DO UPDATE SET auto_enabled = excluded.auto_enabled,
      auto_threshold_micros = excluded.auto_threshold_micros,
      auto_package_slug = excluded.auto_package_slug,
      auto_per_day_max = excluded.auto_per_day_max,
      auto_month_max_cents = excluded.auto_month_max_cents, auto_paused_reason = NULL,
      auto_paused_at = NULL, auto_tries = 0, auto_next_at = NULL, updated_at = now()`;
}

export async function keepProfile(
  sql: Queryable,
  accountId: string,
  profile: BillingProfile | null,
): Promise<void> {
  const text = profile === null ? null : JSON.stringify(profile);
  await sql`
    INSERT INTO billing_settings (account_id, profile) VALUES (${accountId}, ${text}::text::jsonb)
    ON CONFLICT (account_id) DO UPDATE SET profile = excluded.profile, updated_at = now()`;
}

/** A card that a checkout saved: the newest is charged. */
export async function keepMethod(
  sql: Queryable,
  accountId: string,
  { provider, customerId, paymentMethodId, brand, last4 }: SavedMethod,
): Promise<void> {
  await sql`
    INSERT INTO billing_settings (account_id, provider, provider_customer_id, payment_method_id,
      card_brand, card_last4)
    VALUES (${accountId}, ${provider}, ${customerId}, ${paymentMethodId}, ${brand}, ${last4})
    ON CONFLICT (account_id) DO UPDATE SET provider = excluded.provider,
      provider_customer_id = excluded.provider_customer_id,
      payment_method_id = excluded.payment_method_id, card_brand = excluded.card_brand,
      card_last4 = excluded.card_last4, updated_at = now()`;
}

export interface DueTopUp {
  accountId: string;
  walletId: string;
}

/**
 * Accounts whose wallet has less than they want, and that nothing keeps from being charged. One
 * that is disabled, deleting or restricted is not among them.
 */
export async function listDueTopUps(sql: Sql, limit: number, apartMs: number): Promise<DueTopUp[]> {
  return sql<DueTopUp[]>`
    SELECT s.account_id AS "accountId", w.id AS "walletId"
    FROM billing_settings s JOIN accounts a ON a.id = s.account_id
    JOIN wallets w ON w.account_id = s.account_id
      AND w.type = CASE a.kind WHEN 'organization' THEN 'organization' ELSE 'personal' END
    WHERE s.auto_enabled AND s.auto_paused_reason IS NULL AND s.payment_method_id IS NOT NULL
      AND (s.auto_next_at IS NULL OR s.auto_next_at <= now())
      AND a.disabled_at IS NULL AND a.deleting_at IS NULL AND a.billing_restricted_at IS NULL
      AND w.wallet_micros < s.auto_threshold_micros
      AND NOT EXISTS (
        SELECT FROM organizations g WHERE g.id = a.organization_id AND g.status = 'closed')
      AND NOT EXISTS (
        SELECT FROM purchases p WHERE p.wallet_id = w.id AND p.kind = 'auto'
          AND (p.status IN ('created', 'pending', 'paid')
            OR p.created_at > now() - ${apartMs}::float8 * interval '1 ms'))
    LIMIT ${limit}`;
}

/**
 * Holds the automatic purchases of the account until the end of the transaction. True: the wallet
 * has none that is open or younger than `apartMs`, whatever was read before.
 */
export async function holdTopUps(
  sql: Transaction,
  { accountId, walletId }: DueTopUp,
  apartMs: number,
): Promise<boolean> {
  await sql`SELECT FROM billing_settings WHERE account_id = ${accountId} FOR UPDATE`;
  const rows = await sql`
    SELECT FROM purchases WHERE wallet_id = ${walletId} AND kind = 'auto'
      AND (status IN ('created', 'pending', 'paid')
        OR created_at > clock_timestamp() - ${apartMs}::float8 * interval '1 ms')
    LIMIT 1`;
  return rows.length === 0;
}

/** What charges without the person came to: today, and in this month, by UTC. */
export async function readAutoSpent(
  sql: Queryable,
  walletId: string,
  currency: string,
): Promise<{ today: number; monthCents: bigint }> {
  const [row] = await sql<{ today: bigint; month_cents: bigint }[]>`
    SELECT count(*) FILTER (WHERE created_at >= date_trunc('day', now(), 'UTC')) AS today,
      coalesce(sum(price_cents) FILTER (WHERE currency = ${currency}), 0)::bigint AS month_cents
    FROM purchases WHERE wallet_id = ${walletId} AND kind = 'auto'
      AND status NOT IN ('failed', 'expired')
      AND created_at >= date_trunc('month', now(), 'UTC')`;
  return { today: Number(row?.today ?? 0), monthCents: row?.month_cents ?? 0n };
}

/** A charge went through: the next one begins without a history. */
export async function noteAutoPaid(sql: Queryable, accountId: string): Promise<void> {
  await sql`
    UPDATE billing_settings SET auto_tries = 0, auto_next_at = NULL
    WHERE account_id = ${accountId}`;
}

/** It is tried again then. */
export async function delayAuto(sql: Queryable, accountId: string, delayMs: number): Promise<void> {
  await sql`
    UPDATE billing_settings SET auto_tries = auto_tries + 1,
      auto_next_at = now() + ${delayMs}::float8 * interval '1 ms'
    WHERE account_id = ${accountId}`;
}

/** Nothing is charged until the person decides anew; false: it is paused already. */
export async function pauseAuto(
  sql: Queryable,
  accountId: string,
  reason: string,
): Promise<boolean> {
  const rows = await sql`
    UPDATE billing_settings SET auto_paused_reason = ${reason}, auto_paused_at = now(),
      auto_tries = 0, auto_next_at = NULL
    WHERE account_id = ${accountId} AND auto_paused_reason IS NULL RETURNING 1`;
  return rows.length > 0;
}

export interface BillingStanding {
  /** Null: nothing keeps it from buying. */
  restrictedAt: Date | null;
  restrictedReason: string | null;
}

export async function findStanding(
  sql: Queryable,
  accountId: string,
): Promise<BillingStanding | null> {
  const [row] = await sql<BillingStanding[]>`
    SELECT billing_restricted_at AS "restrictedAt", billing_restricted_reason AS "restrictedReason"
    FROM accounts WHERE id = ${accountId}`;
  return row ?? null;
}

/** Restricts an account, or lifts that; false: nothing changed. */
export async function restrictBilling(
  sql: Queryable,
  accountId: string,
  reason: string | null,
): Promise<boolean> {
  const rows = await sql`
    UPDATE accounts SET updated_at = now(), revision = revision + 1,
      billing_restricted_at = CASE WHEN ${reason !== null}::boolean
        THEN coalesce(billing_restricted_at, now()) END,
      billing_restricted_reason = ${reason}
    WHERE id = ${accountId} AND billing_restricted_reason IS DISTINCT FROM ${reason} RETURNING 1`;
  return rows.length > 0;
}
