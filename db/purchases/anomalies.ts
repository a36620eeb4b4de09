// Payments that are not what was asked for, as administrators list them.
import type { Queryable } from '../driver/sql.ts';
import type { NewAnomaly } from './moves.ts';

export interface Anomaly extends NewAnomaly {
  at: Date;
}

/** The newest first, older than `cursor` (an id). */
export async function listAnomalies(
  sql: Queryable,
  limit: number,
  cursor: string | null,
): Promise<{ anomalies: Anomaly[]; nextCursor: string | null }> {
  const rows = await sql<Anomaly[]>`
    SELECT id, provider, object_id AS "objectId", kind, purchase_id AS "purchaseId", details, at
    FROM payment_anomalies WHERE (${cursor}::text IS NULL OR id < ${cursor}::text)
    ORDER BY id DESC LIMIT ${limit + 1}`;
  const anomalies = rows.slice(0, limit);
  return { anomalies, nextCursor: rows.length > limit ? (anomalies.at(-1)?.id ?? null) : null };
}
