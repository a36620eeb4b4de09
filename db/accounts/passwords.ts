// Passwords of accounts, as their hashes alone. An account without a row has none.
import type { Queryable } from '../driver/sql.ts';

/** The hash in PHC form, or null. */
export async function findPasswordHash(sql: Queryable, accountId: string): Promise<string | null> {
  const [row] = await sql<{ hash: string }[]>`
    SELECT hash FROM account_passwords WHERE account_id = ${accountId}`;
  return row?.hash ?? null;
}

/** The account has this password from now on. */
export async function setPassword(sql: Queryable, accountId: string, hash: string): Promise<void> {
  await sql`
    INSERT INTO account_passwords (account_id, hash) VALUES (${accountId}, ${hash})
    ON CONFLICT (account_id) DO UPDATE SET hash = excluded.hash, changed_at = now()`;
}

/** The same password hashed anew, unless it was changed meanwhile. */
export async function rehashPassword(
  sql: Queryable,
  accountId: string,
  { before, after }: { before: string; after: string },
): Promise<void> {
  await sql`
    UPDATE account_passwords SET hash = ${after}
    WHERE account_id = ${accountId} AND hash = ${before}`;
}
