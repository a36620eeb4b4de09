// The house: the account that pays for what the service asks models itself. A migration made it;
// it has no key and no session, and no route but those of wallets knows it.
import type { Queryable } from '../driver/sql.ts';

export interface House {
  accountId: string;
  walletId: string;
}

export async function findHouse(sql: Queryable): Promise<House> {
  const [row] = await sql<House[]>`
    SELECT a.id AS "accountId", w.id AS "walletId"
    FROM accounts a JOIN wallets w ON w.account_id = a.id
    WHERE a.kind = 'house' ORDER BY w.created_at, w.id LIMIT 1`;
  if (row === undefined) throw new Error('the house account is gone');
  return row;
}
