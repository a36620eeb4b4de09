// What a person sees first of its account: the newest of each, in one snapshot.
import { findPerson, type Person } from '../accounts/person.ts';
import { listPurchases } from '../billing.ts';
import type { Sql } from '../driver/sql.ts';
import { findWallet, type ListedWallet } from '../journal.ts';
import { type ApiKey, listKeys } from '../keys.ts';
import type { Purchase } from '../purchases.ts';
import { readUsageState } from '../usage/turn.ts';
import type { UsageOwner } from '../usage.ts';
import { type LedgerLine, listLines } from './ledger.ts';

export interface Dashboard {
  person: Person;
  /** Null: the reader sees its own part alone. */
  wallet: ListedWallet | null;
  keys: ApiKey[];
  purchases: Purchase[];
  lines: LedgerLine[];
}

/** Who looks: the person, as which account, and whose money it sees; null: none. */
export interface DashboardReader {
  personId: string;
  accountId: string;
  owner: UsageOwner | null;
}

/** Null: the account or its wallet is gone. */
export async function readDashboard(
  sql: Sql,
  { personId, accountId, owner }: DashboardReader,
  limit: number,
): Promise<Dashboard | null> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    // On their way at once; plans change behind the last of them.
    const [person, wallet, { keys }, purchases, state] = await Promise.all([
      findPerson(transaction, personId),
      owner && findWallet(transaction, owner.walletId),
      listKeys(transaction, accountId, limit, null),
      owner === null ? [] : listPurchases(transaction, owner, { limit }),
      readUsageState(transaction),
    ]);
    if (person === null) return null;
    if (owner === null) return { person, wallet: null, keys, purchases, lines: [] };
    if (wallet === null) return null;
    const page = { limit, after: null, firstMs: wallet.createdAt.getTime() };
    const { lines } = await listLines(transaction, state, owner, page);
    return { person, wallet, keys, purchases, lines };
  });
}
