// For whom active holds are: an account, and a key. Rows of their owners have both, and neither
// ever changes.
import { arrayLiteral } from '../driver/array.ts';
import { lookedUp } from '../driver/lookup.ts';
import type { Queryable } from '../driver/sql.ts';
import type { HolderRows } from '../ledger/holder.ts';
import type { CounterRows } from './rows.ts';

/**
 * Adds the spenders of active holds to wallets that count, as they were read. They never change: a
 * hold's owner is there for as long as the hold.
 */
export async function addSpenders(
  sql: Queryable,
  holders: readonly HolderRows[],
  wallets: ReadonlyMap<string, { counters?: CounterRows | null }>,
): Promise<void> {
  const ids = [...wallets].filter(([, { counters }]) => counters != null).map(([id]) => id);
  if (ids.length === 0) return;
  const rows = await sql.unsafe<SpenderRow[]>(
    holdsOfSpenders(holders, 'h.wallet_id = ANY ($1::text[])'),
    [arrayLiteral(ids)],
    { prepare: true },
  );
  for (const id of ids) {
    const counters = wallets.get(id)?.counters;
    const own = rows.filter((row) => row.wallet_id === id);
    if (counters == null) continue;
    counters.spenders = new Map(
      own.map((row) => [row.id, { accountId: row.account_id, apiKeyId: row.api_key_id }]),
    );
  }
}

type SpenderRow = { wallet_id: string; id: string; account_id: string; api_key_id: string | null };

/** Active holds: `wallet_id`, `id`, `amount_micros`, `account_id`, `api_key_id` or NULL. */
export function holdsOfSpenders(holders: readonly HolderRows[], where: string): string {
  const owners = holders
    .filter(({ isKeyed }) => isKeyed)
    .map(
      ({ kind, table }) => `SELECT h.wallet_id, h.id, h.amount_micros, o.account_id, o.api_key_id
      FROM holds h JOIN ${table} o ON ${lookedUp('o.id', 'h.owner_id')}
      WHERE ${where} AND h.claimed AND h.owner_kind = '${kind}'`,
    );
  return owners.join('\n      UNION ALL ');
}

/** When the id of a hold was made, in milliseconds. */
export const holdMillisText = (column: string) =>
  `('x0000' || left(right(${column}, 24), 12))::bit(64)::bigint`;
