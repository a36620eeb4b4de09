// The keys that active holds are for. Rows of their owners have them, and they never change.
import { arrayLiteral } from '../driver/array.ts';
import { lookedUp } from '../driver/lookup.ts';
import type { Queryable } from '../driver/sql.ts';
import type { HolderRows } from '../ledger/holder.ts';
import type { CounterRows } from './rows.ts';

/**
 * Adds the keys of active holds to wallets that count, as they were read. Neither ever changes: a
 * hold's owner is there for as long as the hold.
 */
export async function addSpenders(
  sql: Queryable,
  holders: readonly HolderRows[],
  wallets: ReadonlyMap<string, { counters?: CounterRows | null }>,
): Promise<void> {
  const ids = [...wallets].filter(([, { counters }]) => counters != null).map(([id]) => id);
  if (ids.length === 0) return;
  const rows = await sql.unsafe<{ wallet_id: string; id: string; api_key_id: string }[]>(
    holdsOfKeys(holders, 'h.wallet_id = ANY ($1::text[])'),
    [arrayLiteral(ids)],
    { prepare: true },
  );
  for (const id of ids) {
    const counters = wallets.get(id)?.counters;
    const own = rows.filter((row) => row.wallet_id === id);
    if (counters != null) counters.spenders = new Map(own.map((row) => [row.id, row.api_key_id]));
  }
}

/** Active holds with their keys: `wallet_id`, `id`, `amount_micros`, `api_key_id`. */
export function holdsOfKeys(holders: readonly HolderRows[], where: string): string {
  const owners = holders
    .filter(({ isKeyed }) => isKeyed)
    .map(
      ({ kind, table }) => `SELECT h.wallet_id, h.id, h.amount_micros, o.api_key_id
      FROM holds h JOIN ${table} o ON ${lookedUp('o.id', 'h.owner_id')}
      WHERE ${where} AND h.claimed AND h.owner_kind = '${kind}' AND o.api_key_id IS NOT NULL`,
    );
  return owners.join('\n      UNION ALL ');
}

/** When the id of a hold was made, in milliseconds. */
export const holdMillisText = (column: string) =>
  `('x0000' || left(right(${column}, 24), 12))::bit(64)::bigint`;
