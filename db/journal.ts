// Wallets and their journal as an administrator reads them. The journal has no index by wallet (the
// hot path would pay for it), so it is read through windows of time that grow until a page is full.
import type { Queryable } from './sql.ts';
import type { EntryKind } from './wallets.ts';

export interface ListedWallet {
  id: string;
  accountId: string;
  type: 'personal' | 'organization';
  availableMicros: bigint;
  heldMicros: bigint;
  createdAt: Date;
}

/** One wallet, or null. */
export async function findWallet(sql: Queryable, walletId: string): Promise<ListedWallet | null> {
  const [row] = await sql<ListedWallet[]>`
    SELECT id, account_id AS "accountId", type, wallet_micros AS "availableMicros",
      held_micros AS "heldMicros", created_at AS "createdAt"
    FROM wallets WHERE id = ${walletId}`;
  return row ?? null;
}

/** Wallets, of one account when that is given, newest first, older than `cursor` (an id). */
export async function listWallets(
  sql: Queryable,
  accountId: string | null,
  limit: number,
  cursor: string | null,
): Promise<{ wallets: ListedWallet[]; nextCursor: string | null }> {
  const rows = await sql<ListedWallet[]>`
    SELECT id, account_id AS "accountId", type, wallet_micros AS "availableMicros",
      held_micros AS "heldMicros", created_at AS "createdAt"
    FROM wallets
    WHERE (${cursor}::text IS NULL OR id < ${cursor}::text)
      AND (${accountId}::text IS NULL OR account_id = ${accountId}::text)
    ORDER BY id DESC LIMIT ${limit + 1}`;
  const wallets = rows.slice(0, limit);
  return { wallets, nextCursor: rows.length > limit ? (wallets.at(-1)?.id ?? null) : null };
}

/** One operation of the journal: how it changed the seven accounts. */
export interface JournalEntry {
  operationId: string;
  kind: EntryKind;
  reason: string | null;
  walletMicros: bigint;
  heldMicros: bigint;
  revenueMicros: bigint;
  providerCostMicros: bigint;
  promotionMicros: bigint;
  purchaseMicros: bigint;
  shortfallMicros: bigint;
  at: Date;
}

/** A place in the journal: entries after it are older, or of the same moment and a lower id. */
export interface JournalPlace {
  /** Microseconds since 1970. */
  atMicros: bigint;
  operationId: string;
}

const windowHours = [1, 24, 30 * 24] as const;

/** Entries of a wallet, newest first, beyond the place when one is given. */
export async function listEntries(
  sql: Queryable,
  walletId: string,
  limit: number,
  after: JournalPlace | null,
): Promise<{ entries: JournalEntry[]; next: JournalPlace | null }> {
  for (const hours of [...windowHours, null]) {
    const rows = await entriesWithin(sql, walletId, limit + 1, after, hours);
    if (rows.length <= limit && hours !== null) continue;
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const isMore = rows.length > limit && last !== undefined;
    const next = isMore ? { atMicros: last.atMicros, operationId: last.operationId } : null;
    return { entries: page.map(({ atMicros: _place, ...entry }) => entry), next };
  }
  return { entries: [], next: null };
}

type Row = JournalEntry & { atMicros: bigint };

async function entriesWithin(
  sql: Queryable,
  walletId: string,
  limit: number,
  after: JournalPlace | null,
  hours: number | null,
): Promise<Row[]> {
  const micros = after?.atMicros ?? null;
  const newest = sql`coalesce(timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond',
    now())`;
  return sql<Row[]>`
    SELECT operation_id AS "operationId", kind, reason, wallet_micros AS "walletMicros",
      held_micros AS "heldMicros", revenue_micros AS "revenueMicros",
      provider_cost_micros AS "providerCostMicros", promotion_micros AS "promotionMicros",
      purchase_micros AS "purchaseMicros", shortfall_micros AS "shortfallMicros", at,
      (extract(epoch FROM at) * 1000000)::bigint AS "atMicros"
    FROM ledger
    WHERE wallet_id = ${walletId} AND at <= ${newest}
      AND (${hours}::int IS NULL OR at > ${newest} - ${hours}::int * interval '1 hour')
      AND (${micros}::bigint IS NULL OR (at, operation_id) < (${newest}, ${
        after?.operationId ?? ''
      }::text))
    ORDER BY at DESC, operation_id DESC LIMIT ${limit}`;
}
