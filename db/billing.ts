// What an account may know about its money, read in one snapshot. Nothing here changes anything.
import {
  type BillingSettings,
  findSettings,
  findStanding,
  noSettings,
} from './billing/settings.ts';
import type { Queryable, Sql, Transaction } from './driver/sql.ts';
import { type Purchase, purchaseColumns } from './purchases.ts';
import { readUsageState } from './usage/turn.ts';
import { lastDays, readUsage, type UsageByThing, type UsageOwner, usageSince } from './usage.ts';
import type { GrantKind, WalletType } from './wallets.ts';

export interface BillingGrant {
  id: string;
  kind: GrantKind;
  note: string;
  amountMicros: bigint;
  remainingMicros: bigint;
  heldMicros: bigint;
  expiresAt: Date | null;
  createdAt: Date;
}

export interface ActiveReservation {
  id: string;
  ownerId: string;
  amountMicros: bigint;
  createdAt: Date;
  expiresAt: Date;
}

export interface ReleasedReservation {
  id: string;
  amountMicros: bigint;
  reason: string;
  releasedAt: Date;
}

/** What a wallet has and what of it is spoken for. */
export interface WalletState {
  wallet: {
    id: string;
    accountId: string;
    type: WalletType;
    availableMicros: bigint;
    heldMicros: bigint;
    createdAt: Date;
  };
  /** Not yet spent, in spending order. */
  grants: BillingGrant[];
  /** The newest first, at most `listLengthMax` of each. */
  active: ActiveReservation[];
}

export interface BillingSummary extends Omit<WalletState, 'wallet'> {
  /** Null: the reader sees its own part alone. */
  wallet: WalletState['wallet'] | null;
  released: ReleasedReservation[];
  /** Today's, and that of the days before; from when on all of it is counted. */
  usage: UsageByThing;
  usageSince: Date;
  /** What reversals left that the wallet owes. */
  debtMicros: bigint;
  purchases: Purchase[];
  /** What the account decided about charges without its person. */
  settings: BillingSettings;
  /** Nothing keeps it from being charged. */
  isChargeable: boolean;
}

const listLengthMax = 100;
/** Days of usage: today, and 29 before. */
const usageDays = 30;

/** One wallet with its grants and holds; null when there is none. */
export async function readWalletState(sql: Sql, walletId: string): Promise<WalletState | null> {
  return sql.begin('isolation level repeatable read read only', (transaction) =>
    readState(transaction, walletId),
  );
}

async function readState(transaction: Transaction, walletId: string): Promise<WalletState | null> {
  const [[wallet], grants, active] = await Promise.all([
    transaction<WalletState['wallet'][]>`
      SELECT id, account_id AS "accountId", type, wallet_micros AS "availableMicros",
        held_micros AS "heldMicros", created_at AS "createdAt"
      FROM wallets WHERE id = ${walletId}`,
    transaction<BillingGrant[]>`
      SELECT id, kind, note, amount_micros AS "amountMicros",
        remaining_micros AS "remainingMicros", held_micros AS "heldMicros",
        expires_at AS "expiresAt", created_at AS "createdAt"
      FROM grants WHERE wallet_id = ${walletId} AND NOT spent
      ORDER BY kind = 'purchase', expires_at NULLS LAST, created_at, id`,
    transaction<ActiveReservation[]>`
      SELECT id, owner_id AS "ownerId", amount_micros AS "amountMicros",
        created_at AS "createdAt", expires_at AS "expiresAt"
      FROM holds WHERE wallet_id = ${walletId} AND NOT expired
      ORDER BY id DESC LIMIT ${listLengthMax}`,
  ]);
  if (wallet === undefined) return null;
  return { wallet, grants: [...grants], active: [...active] };
}

/** The summary of one wallet; null when there is none. Expired credits may still be counted. */
export async function readBillingSummary(
  sql: Sql,
  accountId: string,
  walletId: string,
): Promise<BillingSummary | null> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const owner = { accountId, walletId };
    // On their way at once; plans change behind the last of them.
    const [state, released, debtMicros, purchases, settings, standing, usageState] =
      await Promise.all([
        readState(transaction, walletId),
        listReleased(transaction, walletId),
        readDebt(transaction, walletId),
        listPurchases(transaction, owner, { limit: listLengthMax }),
        findSettings(transaction, accountId),
        findStanding(transaction, accountId),
        readUsageState(transaction),
      ]);
    if (state === null) return null;
    const range = lastDays(usageState.nowMs, usageDays);
    return {
      ...state,
      released,
      debtMicros,
      purchases,
      settings,
      usage: await readUsage(transaction, usageState, owner, range),
      usageSince: usageSince(usageState, state.wallet.createdAt),
      isChargeable: standing?.restrictedAt === null,
    };
  });
}

/** What an account used itself of a wallet that it does not see; null: there is no such wallet. */
export async function readOwnPart(
  sql: Sql,
  accountId: string,
  walletId: string,
): Promise<BillingSummary | null> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const usageState = await readUsageState(transaction);
    const [account] = await transaction<{ created_at: Date }[]>`
      SELECT created_at FROM accounts WHERE id = ${accountId}`;
    if (account === undefined) return null;
    const owner = { accountId, walletId, isOwn: true } as const;
    const range = lastDays(usageState.nowMs, usageDays);
    const { models } = await readUsage(transaction, usageState, owner, range);
    const nothing = { grants: [], active: [], released: [], purchases: [] };
    return {
      wallet: null,
      ...nothing,
      debtMicros: 0n,
      usage: { models, days: [], keys: [] },
      usageSince: usageSince(usageState, account.created_at),
      settings: noSettings(accountId),
      isChargeable: false,
    };
  });
}

async function listReleased(sql: Queryable, walletId: string): Promise<ReleasedReservation[]> {
  const rows = await sql<ReleasedReservation[]>`
    SELECT split_part(operation_id, '.', 1) AS id, -held_micros AS "amountMicros",
      coalesce(reason, 'failed') AS reason, at AS "releasedAt"
    FROM ledger WHERE wallet_id = ${walletId} AND kind = 'release'
    ORDER BY at DESC LIMIT ${listLengthMax}`;
  return [...rows];
}

/** What reversals of a wallet's purchases left that it owes. */
async function readDebt(sql: Queryable, walletId: string): Promise<bigint> {
  const [row] = await sql<{ debt: bigint }[]>`
    SELECT coalesce(sum(debt_micros), 0)::bigint AS debt FROM purchases
    WHERE wallet_id = ${walletId} AND debt_micros > 0`;
  return row?.debt ?? 0n;
}

export interface PurchasePage {
  limit: number;
  /** Only those made since the first moment and before the second. */
  madeMs?: readonly [number, number];
  /** Only those behind this id. */
  afterId?: string | null;
}

/** Purchases into a wallet, the newest first, as their ids say. */
export async function listPurchases(
  sql: Queryable,
  { accountId, walletId }: UsageOwner,
  { limit, madeMs, afterId = null }: PurchasePage,
): Promise<Purchase[]> {
  const made =
    madeMs === undefined
      ? sql``
      : sql`AND p.created_at >= ${new Date(madeMs[0])} AND p.created_at < ${new Date(madeMs[1])}`;
  const rows = await sql<Purchase[]>`
    SELECT ${sql.unsafe(purchaseColumns)} FROM purchases p
    WHERE p.account_id = ${accountId} AND p.wallet_id = ${walletId}
      AND (${afterId}::text IS NULL OR p.id < ${afterId}::text) ${made}
    ORDER BY p.id DESC LIMIT ${limit}`;
  return [...rows];
}
