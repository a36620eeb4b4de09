// Wallets as they stand in the database: their rows, how they are loaded, what the journal knows.
// A loaded wallet is one snapshot; whether it still holds is proved by its version, on writing.
import { arrayLiteral } from './driver/array.ts';
import type { Queryable } from './driver/sql.ts';
import { type CounterRows, countersText, type RawCounters, readCounters } from './spend/rows.ts';

/** The seven accounts of the double entry: balances of a wallet, or the legs of one operation. */
export interface Legs {
  walletMicros: bigint;
  heldMicros: bigint;
  revenueMicros: bigint;
  providerCostMicros: bigint;
  promotionMicros: bigint;
  purchaseMicros: bigint;
  shortfallMicros: bigint;
}

/** A wallet of a person, or of an organization. */
export type WalletType = 'personal' | 'organization';

export type GrantKind = 'promotion' | 'purchase';

export interface GrantRow {
  id: string;
  operationId: string;
  kind: GrantKind;
  note: string;
  amountMicros: bigint;
  /** Includes what is held. */
  remainingMicros: bigint;
  heldMicros: bigint;
  expiresAtMs: number | null;
  /** Its time came, or it was revoked: its free part was taken back. */
  expired: boolean;
  createdAtMs: number;
}

/** What a hold earmarks of one grant. */
export interface HoldLeg {
  grantId: string;
  micros: bigint;
}

export interface HoldRow {
  id: string;
  amountMicros: bigint;
  /** In spending order; their sum is the amount. */
  legs: HoldLeg[];
  ownerKind: string;
  ownerId: string;
  instanceId: string;
  claimed: boolean;
  /** Names the memory that last told the caller that it is held. */
  attempt: bigint;
  step: number;
  stepMicros: bigint;
  expiresAtMs: number;
  /** Swept: it holds nothing and waits for its owner's end. */
  expired: boolean;
}

/** What reversals of a purchase could not take, and nothing has paid since. */
export interface DebtRow {
  purchaseId: string;
  micros: bigint;
}

/** What a wallet's account wants to be told of. */
export interface Watched {
  accountId: string;
  belowMicros: bigint;
}

export interface WalletRow {
  id: string;
  version: bigint;
  balances: Legs;
  /** Those that are not spent, in no order. */
  grants: GrantRow[];
  /** All that is open, in no order. */
  debts: DebtRow[];
  /** Its account, where that is charged without its person below so much. */
  watched?: Watched | null;
  holds: HoldRow[];
  /** Null or left out: nothing of it has a cap. */
  counters?: CounterRows | null;
}

/** What an operation of the journal can be. */
export const entryKinds = [
  'hold',
  'extend',
  'reduce',
  'settle',
  'release',
  'late',
  'grant',
  'expire',
  'revoke',
  'debit',
  'reverse',
  'restore',
  'collect',
] as const;
export type EntryKind = (typeof entryKinds)[number];

/** One operation of the journal. */
export interface EntryRow {
  operationId: string;
  kind: EntryKind;
  reason: string | null;
  legs: Legs;
}

type RawLegs = {
  wallet_micros: bigint;
  held_micros: bigint;
  revenue_micros: bigint;
  provider_cost_micros: bigint;
  promotion_micros: bigint;
  purchase_micros: bigint;
  shortfall_micros: bigint;
};
type RawGrant = [
  string,
  string,
  GrantKind,
  string,
  string,
  string,
  string,
  number | null,
  boolean,
  number,
];
type RawHold = [
  string,
  string,
  { grant: string; micros: string }[],
  string,
  string,
  string,
  boolean,
  string,
  number,
  string,
  number,
  boolean,
];
type RawWallet = RawLegs & {
  id: string;
  version: bigint;
  grants: RawGrant[];
  debts: [string, string][];
  account_id: string;
  low: bigint | null;
  holds: RawHold[];
  counters: RawCounters | null;
};

const loadText = `
SELECT w.id, w.version, w.wallet_micros, w.held_micros, w.revenue_micros, w.provider_cost_micros,
  w.promotion_micros, w.purchase_micros, w.shortfall_micros,
  (SELECT coalesce(json_agg(json_build_array(g.id, g.operation_id, g.kind, g.note,
      g.amount_micros::text, g.remaining_micros::text, g.held_micros::text,
      (extract(epoch FROM g.expires_at) * 1000)::bigint, g.expired,
      (extract(epoch FROM g.created_at) * 1000)::bigint)), '[]')
    FROM grants g WHERE g.wallet_id = w.id AND NOT g.spent) AS grants,
  (SELECT coalesce(json_agg(json_build_array(p.id, p.debt_micros::text)), '[]')
    FROM purchases p WHERE p.wallet_id = w.id AND p.debt_micros > 0) AS debts, w.account_id,
  (SELECT s.auto_threshold_micros FROM billing_settings s
    WHERE s.account_id = w.account_id AND s.auto_enabled AND s.auto_paused_reason IS NULL) AS low,
  (SELECT coalesce(json_agg(json_build_array(h.id, h.amount_micros::text, h.legs, h.owner_kind,
      h.owner_id, h.instance_id, h.claimed, h.attempt::text, h.step, h.step_micros::text,
      (extract(epoch FROM h.expires_at) * 1000)::bigint, h.expired)), '[]')
    FROM holds h WHERE h.wallet_id = w.id) AS holds,
  ${countersText} AS counters
FROM wallets w WHERE w.id = ANY ($1::text[])`;

/** Loads wallets in one statement, so each is consistent in itself. Unknown ids are left out. */
export async function loadWallets(
  sql: Queryable,
  walletIds: readonly string[],
): Promise<Map<string, WalletRow>> {
  const rows = await sql.unsafe<RawWallet[]>(loadText, [arrayLiteral(walletIds)], {
    prepare: true,
  });
  return new Map(rows.map((row) => [row.id, readWallet(row)]));
}

function readWallet(row: RawWallet): WalletRow {
  return {
    id: row.id,
    version: row.version,
    balances: readLegs(row),
    grants: row.grants.map((raw) => ({
      id: raw[0],
      operationId: raw[1],
      kind: raw[2],
      note: raw[3],
      amountMicros: BigInt(raw[4]),
      remainingMicros: BigInt(raw[5]),
      heldMicros: BigInt(raw[6]),
      expiresAtMs: raw[7],
      expired: raw[8],
      createdAtMs: raw[9],
    })),
    watched: row.low === null ? null : { accountId: row.account_id, belowMicros: row.low },
    debts: row.debts.map(([purchaseId, micros]) => ({ purchaseId, micros: BigInt(micros) })),
    holds: row.holds.map((raw) => ({
      id: raw[0],
      amountMicros: BigInt(raw[1]),
      legs: raw[2].map((leg) => ({ grantId: leg.grant, micros: BigInt(leg.micros) })),
      ownerKind: raw[3],
      ownerId: raw[4],
      instanceId: raw[5],
      claimed: raw[6],
      attempt: BigInt(raw[7]),
      step: raw[8],
      stepMicros: BigInt(raw[9]),
      expiresAtMs: raw[10],
      expired: raw[11],
    })),
    counters: row.counters === null ? null : readCounters(row.counters),
  };
}

function readLegs(row: RawLegs): Legs {
  return {
    walletMicros: row.wallet_micros,
    heldMicros: row.held_micros,
    revenueMicros: row.revenue_micros,
    providerCostMicros: row.provider_cost_micros,
    promotionMicros: row.promotion_micros,
    purchaseMicros: row.purchase_micros,
    shortfallMicros: row.shortfall_micros,
  };
}

const entriesText = `
SELECT operation_id, kind, reason, wallet_micros, held_micros, revenue_micros,
  provider_cost_micros, promotion_micros, purchase_micros, shortfall_micros
FROM ledger WHERE operation_id = ANY ($1::text[]) AND wallet_id = $2`;

type RawEntry = RawLegs & { operation_id: string; kind: EntryKind; reason: string | null };

/** What the journal of one wallet knows about these operations. */
export async function findEntries(
  sql: Queryable,
  walletId: string,
  operationIds: readonly string[],
): Promise<Map<string, EntryRow>> {
  const parameters = [arrayLiteral(operationIds), walletId];
  const rows = await sql.unsafe<RawEntry[]>(entriesText, parameters, { prepare: true });
  return new Map(
    rows.map((row) => [
      row.operation_id,
      {
        operationId: row.operation_id,
        kind: row.kind,
        reason: row.reason,
        legs: readLegs(row),
      },
    ]),
  );
}

const usedText = `
SELECT operation_id FROM ledger WHERE operation_id = ANY ($1::text[])
UNION ALL SELECT operation_id FROM audit_events WHERE operation_id = ANY ($1::text[])`;

/** Which of the operations are known anywhere: in the journal, or announced by an event. */
export async function findUsedOperations(
  sql: Queryable,
  operationIds: readonly string[],
): Promise<string[]> {
  const parameters = [arrayLiteral(operationIds)];
  const rows = await sql.unsafe<{ operation_id: string }[]>(usedText, parameters, {
    prepare: true,
  });
  return rows.map((row) => row.operation_id);
}

/** A new, empty wallet; one of an organization counts. Does nothing when it exists. */
export async function createWallet(
  sql: Queryable,
  wallet: { id: string; accountId: string; type: WalletType },
): Promise<void> {
  await sql`
    INSERT INTO wallets (id, account_id, type, counts)
    VALUES (${wallet.id}, ${wallet.accountId}, ${wallet.type}, ${wallet.type === 'organization'})
    ON CONFLICT (id) DO NOTHING`;
}

/** Wallets with a promotion whose time has come and that was not taken back yet. */
export async function listWalletsWithExpiredGrants(
  sql: Queryable,
  nowMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ wallet_id: string }[]>`
    SELECT DISTINCT wallet_id FROM (
      SELECT wallet_id FROM grants
      WHERE NOT spent AND NOT expired AND expires_at <= to_timestamp(${nowMs}::float8 / 1000)
      ORDER BY expires_at LIMIT ${limit}) g`;
  return rows.map((row) => row.wallet_id);
}

/** Wallets that owe, and have something free that was bought. */
export async function listWalletsInDebt(sql: Queryable, limit: number): Promise<string[]> {
  const rows = await sql<{ wallet_id: string }[]>`
    SELECT DISTINCT p.wallet_id FROM purchases p
    WHERE p.debt_micros > 0 AND EXISTS (
      SELECT 1 FROM grants g WHERE g.wallet_id = p.wallet_id AND NOT g.spent
        AND g.kind = 'purchase' AND g.remaining_micros > g.held_micros)
    LIMIT ${limit}`;
  return rows.map((row) => row.wallet_id);
}
