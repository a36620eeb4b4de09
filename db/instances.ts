// Process instances and their leases, and what a dead one has left unfinished.
import { arrayLiteral } from './driver/array.ts';
import type { Queryable } from './driver/sql.ts';
import { readUsage, type SessionUsage, type UsageRow, usageColumns } from './voice-sessions.ts';

/** Announces this process; its lease has to be renewed before it expires. */
export async function registerInstance(
  sql: Queryable,
  instanceId: string,
  leaseMs: number,
): Promise<void> {
  await sql`
    INSERT INTO instances (id, lease_expires_at)
    VALUES (${instanceId}, now() + ${leaseMs}::float8 * interval '1 ms')
    ON CONFLICT (id) DO UPDATE SET lease_expires_at = excluded.lease_expires_at, ended_at = NULL`;
}

/** Renews the lease. False: others have given this process up; its holds may be gone. */
export async function renewLease(
  sql: Queryable,
  instanceId: string,
  leaseMs: number,
): Promise<boolean> {
  const { count } = await sql`
    UPDATE instances SET lease_expires_at = now() + ${leaseMs}::float8 * interval '1 ms'
    WHERE id = ${instanceId} AND ended_at IS NULL`;
  return count > 0;
}

/** Ends the lease at a graceful stop, when nothing is unfinished any more. */
export async function endInstance(sql: Queryable, instanceId: string): Promise<void> {
  await sql`UPDATE instances SET ended_at = now() WHERE id = ${instanceId} AND ended_at IS NULL`;
}

/**
 * Instances that are dead and not cleared up: their lease has passed. `alone`: no other process can
 * reach this database, so all but this one are dead, whatever their lease says.
 */
export async function listDeadInstances(
  sql: Queryable,
  ownId: string,
  alone: boolean,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM instances
    WHERE ended_at IS NULL AND id <> ${ownId} AND (${alone} OR lease_expires_at < now())
    ORDER BY id`;
  return rows.map((row) => row.id);
}

/**
 * Instances that were cleared up this long ago and have holds all the same: a statement that waited
 * in the server outlived its process. Who lives has announced itself anew by then.
 */
export async function listEndedInstancesWithHolds(
  sql: Queryable,
  ownId: string,
  endedMs: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT i.id FROM instances i JOIN (SELECT DISTINCT instance_id FROM holds) h
      ON h.instance_id = i.id
    WHERE i.id <> ${ownId} AND i.ended_at < now() - ${endedMs}::float8 * interval '1 ms'
    ORDER BY i.id`;
  return rows.map((row) => row.id);
}

/** A hold that somebody else has to end. */
export interface LeftHold {
  walletId: string;
  holdId: string;
  ownerKind: string;
  /** Set when a generation or a voice session ends with it. */
  ownerId: string | null;
  /** What a voice session had used when that was last written. */
  dueMicros: bigint;
  dueProviderMicros: bigint;
  /** What that is due for. */
  usage: SessionUsage | null;
}

type LeftRow = {
  wallet_id: string;
  id: string;
  owner_kind: string;
  owner_id: string;
  claimed: boolean;
  due_micros: bigint | null;
  due_provider_micros: bigint | null;
} & UsageRow;

const leftColumns = `h.wallet_id, h.id, h.owner_kind, h.owner_id, h.claimed, s.due_micros,
  s.due_provider_micros, ${usageColumns.map((name) => `s.${name}`).join(', ')}`;
const leftTables = `holds h
  LEFT JOIN voice_sessions s ON h.owner_kind = 'voice_session' AND s.id = h.owner_id`;

function readLeft(row: LeftRow): LeftHold {
  return {
    walletId: row.wallet_id,
    holdId: row.id,
    ownerKind: row.owner_kind,
    ownerId: row.claimed ? row.owner_id : null,
    dueMicros: row.due_micros ?? 0n,
    dueProviderMicros: row.due_provider_micros ?? 0n,
    usage: readUsage(row),
  };
}

/** Holds of these instances by wallet and id, behind `after`, at most `limit` of them. */
export async function listHoldsOfInstances(
  sql: Queryable,
  instanceIds: readonly string[],
  after: LeftHold | null,
  limit: number,
): Promise<LeftHold[]> {
  const rows = await sql<LeftRow[]>`
    SELECT ${sql.unsafe(leftColumns)} FROM ${sql.unsafe(leftTables)}
    WHERE h.instance_id = ANY (${arrayLiteral(instanceIds)}::text[])
      AND (h.wallet_id, h.id) > (${after?.walletId ?? ''}, ${after?.holdId ?? ''})
    ORDER BY h.wallet_id, h.id LIMIT ${limit}`;
  return rows.map(readLeft);
}

/**
 * Holds of an instance whose generation or voice session has an id below that of `until`, by wallet
 * and id, behind `after`, at most `limit` of them.
 */
export async function listHoldsOfOwners(
  sql: Queryable,
  instanceId: string,
  until: { generationId: string; sessionId: string },
  after: LeftHold | null,
  limit: number,
): Promise<LeftHold[]> {
  const rows = await sql<LeftRow[]>`
    SELECT ${sql.unsafe(leftColumns)} FROM ${sql.unsafe(leftTables)}
    WHERE h.instance_id = ${instanceId} AND h.claimed AND h.owner_id < CASE h.owner_kind
        WHEN 'voice_session' THEN ${until.sessionId} ELSE ${until.generationId} END
      AND (h.wallet_id, h.id) > (${after?.walletId ?? ''}, ${after?.holdId ?? ''})
    ORDER BY h.wallet_id, h.id LIMIT ${limit}`;
  return rows.map(readLeft);
}

/**
 * Of this instance, or of one that does not live: what is late is judged by the clock that has set
 * the time, and by another one only where that is gone. Clocks of machines differ.
 */
const ownOrLeft = (sql: Queryable, ownId: string) => sql`(h.instance_id = ${ownId}
  OR NOT EXISTS (SELECT FROM instances i WHERE i.id = h.instance_id
    AND i.ended_at IS NULL AND i.lease_expires_at > now()))`;

/** Active holds that expired before `nowMs`, the oldest first. */
export async function listExpiredHolds(
  sql: Queryable,
  ownId: string,
  nowMs: number,
  limit: number,
): Promise<LeftHold[]> {
  const rows = await sql<LeftRow[]>`
    SELECT ${sql.unsafe(leftColumns)} FROM ${sql.unsafe(leftTables)}
    WHERE NOT h.expired AND h.expires_at <= to_timestamp(${nowMs}::float8 / 1000)
      AND ${ownOrLeft(sql, ownId)}
    ORDER BY h.expires_at LIMIT ${limit}`;
  return rows.map(readLeft);
}

/** Holds that expired before `beforeMs` and whose owner has still not ended. */
export async function listAbandonedHolds(
  sql: Queryable,
  ownId: string,
  beforeMs: number,
  limit: number,
): Promise<LeftHold[]> {
  const rows = await sql<LeftRow[]>`
    SELECT ${sql.unsafe(leftColumns)} FROM ${sql.unsafe(leftTables)}
    WHERE h.expired AND h.expires_at <= to_timestamp(${beforeMs}::float8 / 1000)
      AND ${ownOrLeft(sql, ownId)}
    ORDER BY h.expires_at LIMIT ${limit}`;
  return rows.map(readLeft);
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
