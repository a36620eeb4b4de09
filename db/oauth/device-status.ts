// What has become of a device at this moment, as its row says.
import type { Queryable } from '../driver/sql.ts';

export type DeviceStatus = 'pending' | 'approved' | 'denied' | 'redeemed' | 'expired';

/** An approval that nobody fetched in time is over as well. */
export function deviceStatus(sql: Queryable) {
  return sql`CASE
    WHEN redeemed_at IS NOT NULL THEN 'redeemed'
    WHEN decided_at IS NOT NULL AND account_id IS NULL THEN 'denied'
    WHEN expires_at <= now() THEN 'expired'
    WHEN decided_at IS NOT NULL THEN 'approved' ELSE 'pending' END`;
}
