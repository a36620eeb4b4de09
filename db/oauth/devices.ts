// Devices that wait for their approval: they ask again and again, and are given tokens once.
import { arrayLiteral } from '../driver/array.ts';
import type { Queryable } from '../driver/sql.ts';
import { type DeviceStatus, deviceStatus } from './device-status.ts';
import {
  type Granted,
  type GrantedRow,
  grantedColumns,
  grantParts,
  type NewGrant,
  readGranted,
} from './grant.ts';

export interface PolledDevice {
  status: DeviceStatus;
  /** It asked again before its interval was over. */
  isEarly: boolean;
}

/**
 * Notes that a device asked again, and has one that was too early wait longer for good. Null: the
 * client has no such device.
 */
export async function pollDevice(
  sql: Queryable,
  deviceCodeHash: Uint8Array,
  client: string,
  slowDownSeconds: number,
): Promise<PolledDevice | null> {
  const [row] = await sql<{ status: DeviceStatus; early: boolean }[]>`
    WITH before AS MATERIALIZED (
      SELECT id, ${deviceStatus(sql)} AS status,
        coalesce(polled_at + make_interval(secs => interval_seconds) > now(), false) AS early
      FROM oauth_devices WHERE device_code_hash = ${deviceCodeHash} AND client = ${client}
      FOR NO KEY UPDATE),
    polled AS (
      UPDATE oauth_devices d SET polled_at = now(), interval_seconds = d.interval_seconds
        + CASE WHEN b.early THEN ${slowDownSeconds}::integer ELSE 0 END
      FROM before b WHERE d.id = b.id AND b.status = 'pending')
    SELECT status, early FROM before`;
  return row === undefined ? null : { status: row.status, isEarly: row.early };
}

/** Grants what was approved for a device, once; null: somebody was quicker, or it is over. */
export async function redeemDevice(
  sql: Queryable,
  deviceCodeHash: Uint8Array,
  client: string,
  grant: NewGrant,
): Promise<Granted | null> {
  const [row] = await sql<GrantedRow[]>`
    WITH spent AS (
      UPDATE oauth_devices d SET redeemed_at = now(), authorization_id = ${grant.authorizationId}
      WHERE d.device_code_hash = ${deviceCodeHash} AND d.client = ${client}
        AND d.account_id IS NOT NULL AND d.redeemed_at IS NULL AND d.expires_at > now()
        AND d.granted_scopes && ${arrayLiteral(grant.allowed)}::text[]
        AND EXISTS (SELECT 1 FROM accounts a WHERE a.id = d.account_id
          AND a.disabled_at IS NULL AND a.deleting_at IS NULL)
      RETURNING authorization_id AS id, account_id, client, granted_scopes AS scopes, method,
        authenticated_at, decided_at AS approved_at),
    ${grantParts(sql, grant, 'device_code')}
    SELECT ${grantedColumns(sql)} FROM pair`;
  return readGranted(row);
}
