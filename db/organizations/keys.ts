// The keys of an organization's context: its own, and those of its members there.
import type { Queryable } from '../driver/sql.ts';

export interface ContextKey {
  id: string;
  /** The account that it acts as. */
  accountId: string;
  /** The person of that membership; null: a key of the organization itself. */
  userId: string | null;
}

type Row = { id: string; account_id: string; person_id: string | null };

const readRow = (row: Row): ContextKey => ({
  id: row.id,
  accountId: row.account_id,
  userId: row.person_id,
});

/** Newest first, behind `cursor`. */
export async function listContextKeys(
  sql: Queryable,
  organizationId: number,
  limit: number,
  cursor: string | null,
): Promise<{ keys: ContextKey[]; nextCursor: string | null }> {
  const rows = await sql<Row[]>`
    SELECT k.id, k.account_id, a.person_id FROM accounts a JOIN api_keys k ON k.account_id = a.id
    WHERE a.organization_id = ${organizationId}
      AND (${cursor}::text IS NULL OR k.id < ${cursor}::text)
    ORDER BY k.id DESC LIMIT ${limit + 1}`;
  const keys = rows.slice(0, limit).map(readRow);
  return { keys, nextCursor: rows.length > limit ? (keys.at(-1)?.id ?? null) : null };
}

/** One of them; null: it is of another context. */
export async function findContextKey(
  sql: Queryable,
  organizationId: number,
  keyId: string,
): Promise<ContextKey | null> {
  const [row] = await sql<Row[]>`
    SELECT k.id, k.account_id, a.person_id FROM accounts a JOIN api_keys k ON k.account_id = a.id
    WHERE a.organization_id = ${organizationId} AND k.id = ${keyId}`;
  return row === undefined ? null : readRow(row);
}
