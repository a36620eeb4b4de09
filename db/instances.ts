// Process instances and their leases.
import { arrayLiteral } from './driver/array.ts';
import type { Queryable } from './driver/sql.ts';
import { outlivingKinds } from './holds.ts';
import type { HolderRows } from './ledger/holder.ts';

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
  holders: readonly HolderRows[],
  ownId: string,
  endedMs: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT i.id FROM instances i JOIN (SELECT DISTINCT instance_id FROM holds
        WHERE owner_kind <> ALL (${arrayLiteral(outlivingKinds(holders))}::text[])) h
      ON h.instance_id = i.id
    WHERE i.id <> ${ownId} AND i.ended_at < now() - ${endedMs}::float8 * interval '1 ms'
    ORDER BY i.id`;
  return rows.map((row) => row.id);
}
