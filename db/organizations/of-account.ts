// The organization that an account acts in: that of a membership, or the one that it is of itself.
import type { Queryable } from '../driver/sql.ts';

/** Null: a person's account. */
export async function findOrganizationOf(
  sql: Queryable,
  accountId: string,
): Promise<{ id: number; walletId: string } | null> {
  const [row] = await sql<{ id: number; wallet_id: string }[]>`
    SELECT g.id, g.wallet_id FROM accounts a JOIN organizations g ON g.id = a.organization_id
    WHERE a.id = ${accountId}`;
  return row === undefined ? null : { id: row.id, walletId: row.wallet_id };
}
