// Approval pages that were decided. A page carries its request sealed, so only this row knows that
// it was used: the first insert wins, whichever shard or process makes it.
import type { Queryable } from '../driver/sql.ts';

/** Rows that one decision removes beside its own: more than come in, so none are left. */
const sweptMax = 10;

/**
 * Marks the page of a request as decided; false: it was before. Pages that nobody can decide any
 * more are forgotten on the way.
 */
export async function takeDecision(
  sql: Queryable,
  requestId: string,
  expiresAt: Date,
): Promise<boolean> {
  const rows = await sql`
    WITH over AS (
      DELETE FROM oauth_decisions WHERE request_id IN (
        SELECT request_id FROM oauth_decisions
        WHERE expires_at < now() - interval '1 minute'
        ORDER BY expires_at LIMIT ${sweptMax} FOR UPDATE SKIP LOCKED))
    INSERT INTO oauth_decisions (request_id, expires_at) VALUES (${requestId}, ${expiresAt})
    ON CONFLICT (request_id) DO NOTHING RETURNING 1`;
  return rows.length > 0;
}
