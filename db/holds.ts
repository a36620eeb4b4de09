// Holds that were left behind: of processes that died, of owners that run nowhere any more, and of
// those whose time has come. What is to be known of an owner without its process is read with them.
import { arrayLiteral } from './driver/array.ts';
import type { Queryable } from './driver/sql.ts';
import type { HolderRows, LeftRow } from './ledger/holder.ts';

type Holders = readonly HolderRows[];

/** A hold that somebody else has to end. */
export interface LeftHold {
  walletId: string;
  holdId: string;
  ownerKind: string;
  /** Set when an owner ends with it. */
  ownerId: string | null;
  /** The left columns of its holder. */
  left: LeftRow;
}

type HoldRow = {
  wallet_id: string;
  id: string;
  owner_kind: string;
  owner_id: string;
  claimed: boolean;
} & Record<string, unknown>;

const withLeft = (holders: Holders) => holders.filter(({ leftColumns }) => leftColumns.length > 0);
const nameOf = ({ alias }: HolderRows, column: string) => `${alias}_${column}`;

function columnsOf(holders: Holders): string {
  const left = withLeft(holders).flatMap((holder) =>
    holder.leftColumns.map((name) => `${holder.alias}.${name} AS ${nameOf(holder, name)}`),
  );
  return ['h.wallet_id', 'h.id', 'h.owner_kind', 'h.owner_id', 'h.claimed', ...left].join(', ');
}

function tablesOf(holders: Holders): string {
  const joins = withLeft(holders).map(
    ({ kind, table, alias }) =>
      `LEFT JOIN ${table} ${alias} ON h.owner_kind = '${kind}' AND ${alias}.id = h.owner_id`,
  );
  return ['holds h', ...joins].join(' ');
}

/** Holds that end with their process. */
function endingOf(sql: Queryable, holders: Holders) {
  const outliving = outlivingKinds(holders);
  if (outliving.length === 0) return sql`true`;
  return sql`h.owner_kind <> ALL (${arrayLiteral(outliving)}::text[])`;
}

/** Kinds of holds that go on without the process that made them. */
export function outlivingKinds(holders: Holders): string[] {
  return holders.filter(({ outlivesProcess }) => outlivesProcess).map(({ kind }) => kind);
}

function readHold(row: HoldRow, holders: Holders): LeftHold {
  const holder = withLeft(holders).find(({ kind }) => kind === row.owner_kind);
  const columns = holder === undefined ? [] : holder.leftColumns;
  const left = columns.map((name) => [name, holder && row[nameOf(holder, name)]]);
  return {
    walletId: row.wallet_id,
    holdId: row.id,
    ownerKind: row.owner_kind,
    ownerId: row.claimed ? row.owner_id : null,
    left: Object.fromEntries(left),
  };
}

/** Holds of these instances by wallet and id, behind `after`, at most `limit` of them. */
export async function listHoldsOfInstances(
  sql: Queryable,
  holders: Holders,
  instanceIds: readonly string[],
  after: LeftHold | null,
  limit: number,
): Promise<LeftHold[]> {
  const rows = await sql<HoldRow[]>`
    SELECT ${sql.unsafe(columnsOf(holders))} FROM ${sql.unsafe(tablesOf(holders))}
    WHERE h.instance_id = ANY (${arrayLiteral(instanceIds)}::text[])
      AND (h.wallet_id, h.id) > (${after?.walletId ?? ''}, ${after?.holdId ?? ''})
      AND ${endingOf(sql, holders)}
    ORDER BY h.wallet_id, h.id LIMIT ${limit}`;
  return rows.map((row) => readHold(row, holders));
}

/**
 * Holds of an instance whose owner's id is below that of `until` for its kind. They come by wallet
 * and id, behind `after`, at most `limit` of them.
 */
export async function listHoldsOfOwners(
  sql: Queryable,
  holders: Holders,
  instanceId: string,
  until: ReadonlyMap<string, string>,
  after: LeftHold | null,
  limit: number,
): Promise<LeftHold[]> {
  const rows = await sql<HoldRow[]>`
    SELECT ${sql.unsafe(columnsOf(holders))} FROM ${sql.unsafe(tablesOf(holders))}
    JOIN unnest(${arrayLiteral([...until.keys()])}::text[],
        ${arrayLiteral([...until.values()])}::text[]) AS u (kind, id)
      ON u.kind = h.owner_kind
    WHERE h.instance_id = ${instanceId} AND h.claimed AND h.owner_id < u.id
      AND (h.wallet_id, h.id) > (${after?.walletId ?? ''}, ${after?.holdId ?? ''})
      AND ${endingOf(sql, holders)}
    ORDER BY h.wallet_id, h.id LIMIT ${limit}`;
  return rows.map((row) => readHold(row, holders));
}

/**
 * The hold is of this instance, or of one that does not live. The clock that set the time judges
 * what is late, another one only where that is gone: clocks of machines differ.
 */
const ownOrLeft = (sql: Queryable, ownId: string) => sql`(h.instance_id = ${ownId}
  OR NOT EXISTS (SELECT FROM instances i WHERE i.id = h.instance_id
    AND i.ended_at IS NULL AND i.lease_expires_at > now()))`;

/**
 * Active holds that expired before `nowMs`, the oldest first. Those that outlive their process have
 * times of the database's clock, which judges them for everybody.
 */
export async function listExpiredHolds(
  sql: Queryable,
  holders: Holders,
  ownId: string,
  nowMs: number,
  limit: number,
): Promise<LeftHold[]> {
  const rows = await sql<HoldRow[]>`
    SELECT ${sql.unsafe(columnsOf(holders))} FROM ${sql.unsafe(tablesOf(holders))}
    WHERE NOT h.expired AND CASE WHEN ${endingOf(sql, holders)}
        THEN h.expires_at <= to_timestamp(${nowMs}::float8 / 1000) AND ${ownOrLeft(sql, ownId)}
        ELSE h.expires_at <= now() END
    ORDER BY h.expires_at LIMIT ${limit}`;
  return rows.map((row) => readHold(row, holders));
}

/** Holds that expired before `beforeMs` and whose owner has still not ended. */
export async function listAbandonedHolds(
  sql: Queryable,
  holders: Holders,
  ownId: string,
  beforeMs: number,
  limit: number,
): Promise<LeftHold[]> {
  const rows = await sql<HoldRow[]>`
    SELECT ${sql.unsafe(columnsOf(holders))} FROM ${sql.unsafe(tablesOf(holders))}
    WHERE h.expired AND h.expires_at <= to_timestamp(${beforeMs}::float8 / 1000)
      AND ${ownOrLeft(sql, ownId)}
    ORDER BY h.expires_at LIMIT ${limit}`;
  return rows.map((row) => readHold(row, holders));
}
