// Wallets and their journal as an administrator reads them. The journal has no index by wallet (the
// hot path would pay for it), but a small one by time: it is read through windows of time that grow
// until a page is full, never further back than the wallet itself.
import type { Queryable } from './driver/sql.ts';
import type { EntryKind, GrantKind } from './wallets.ts';

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

/** What kind of grant the wallet was given under this id, spent or not; null: none. */
export async function findGrantKind(
  sql: Queryable,
  walletId: string,
  grantId: string,
): Promise<GrantKind | null> {
  const [row] = await sql<{ kind: GrantKind }[]>`
    SELECT kind FROM grants WHERE id = ${grantId} AND wallet_id = ${walletId}`;
  return row?.kind ?? null;
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

/**
 * A place in the journal: entries after it are older, or of the same moment and a lower id. An
 * empty id is below every other.
 */
export interface JournalPlace {
  /** Microseconds since 1970. */
  atMicros: bigint;
  operationId: string;
}

const hourMicros = 3_600_000_000n;
/** The last is as far back as one look goes. */
const windowHours = [1, 24, 7 * 24, 30 * 24] as const;
/**
 * A look that would take longer than this, by what the one before took, is not made: of a large
 * ledger 30 days are more than a statement may read. 20 million entries take 5 s.
 */
const lookMsMax = 1_500;

/**
 * Entries of a wallet, newest first, beyond the place when one is given. Fewer than `limit`, even
 * none, with a next place: there may be more, longer ago.
 */
export async function listEntries(
  sql: Queryable,
  wallet: Pick<ListedWallet, 'id' | 'createdAt'>,
  limit: number,
  after: JournalPlace | null,
  clock: () => number = () => performance.now(),
): Promise<{ entries: JournalEntry[]; next: JournalPlace | null }> {
  const firstMicros = BigInt(wallet.createdAt.getTime()) * 1_000n;
  const newestMicros = after?.atMicros ?? BigInt(Date.now()) * 1_000n;
  let sinceMicros = newestMicros;
  let rows: Row[] = [];
  let hourMs = 0;
  for (const hours of windowHours) {
    if (hours * hourMs > lookMsMax) break;
    const reachedMicros = newestMicros - BigInt(hours) * hourMicros;
    sinceMicros = reachedMicros > firstMicros ? reachedMicros : firstMicros;
    const startedMs = clock();
    rows = await entriesWithin(sql, wallet.id, limit + 1, after, sinceMicros);
    // Of the first hour it says little: most of it is the way to the server.
    if (hours > 1) hourMs = (clock() - startedMs) / hours;
    if (rows.length > limit || sinceMicros === firstMicros) break;
  }
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  let next: JournalPlace | null = null;
  if (rows.length > limit && last !== undefined) {
    next = { atMicros: last.atMicros, operationId: last.operationId };
  } else if (sinceMicros > firstMicros) next = { atMicros: sinceMicros, operationId: '' };
  return { entries: page.map(({ atMicros: _place, ...entry }) => entry), next };
}

type Row = JournalEntry & { atMicros: bigint };

/** Entries since a moment, that one included. */
async function entriesWithin(
  sql: Queryable,
  walletId: string,
  limit: number,
  after: JournalPlace | null,
  sinceMicros: bigint,
): Promise<Row[]> {
  const momentOf = (micros: bigint) =>
    sql`timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond'`;
  const beyond =
    after === null
      ? sql``
      : sql`AND at <= ${momentOf(after.atMicros)}
        AND (at, operation_id) < (${momentOf(after.atMicros)}, ${after.operationId}::text)`;
  return sql<Row[]>`
    SELECT operation_id AS "operationId", kind, reason, wallet_micros AS "walletMicros",
      held_micros AS "heldMicros", revenue_micros AS "revenueMicros",
      provider_cost_micros AS "providerCostMicros", promotion_micros AS "promotionMicros",
      purchase_micros AS "purchaseMicros", shortfall_micros AS "shortfallMicros", at,
      (extract(epoch FROM at) * 1000000)::bigint AS "atMicros"
    FROM ledger
    WHERE wallet_id = ${walletId} AND at >= ${momentOf(sinceMicros)} ${beyond}
    ORDER BY at DESC, operation_id DESC LIMIT ${limit}`;
}
