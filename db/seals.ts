// Seals of what clients carry for providers: since when they are bound to accounts.
import type { Queryable } from './driver/sql.ts';

/** When the first process that binds them came to this database. */
export async function readSealsBoundSince(sql: Queryable): Promise<Date> {
  const [row] = await sql<{ bound_since: Date }[]>`SELECT bound_since FROM seals`;
  if (row === undefined) throw new Error('the table seals has lost its row');
  return row.bound_since;
}
