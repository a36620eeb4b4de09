// The part of the ledger's statement that counts what spenders spend and hold. It stands behind all
// others, and only in writes of holds that count: every other text is what it was.
import type { SpendRow } from '../spend/rows.ts';
import { definePart, type Part } from './part.ts';
import { ownedRows } from './write.ts';

const time = (column: string): string => `to_timestamp(r.${column}::float8 / 1000)`;

export const counterPart: Part = definePart<SpendRow>({
  name: 'counters',
  rows: (write) => ownedRows(write, 'counters'),
  columns: [
    ['spender', 'text', (row) => row.spender],
    ['period', 'text', (row) => row.period],
    ['starts_ms', 'bigint', (row) => row.startsMs],
    ['ends_ms', 'bigint', (row) => row.endsMs],
    ['spent_micros', 'bigint', (row) => row.spentMicros],
    ['held_micros', 'bigint', (row) => row.heldMicros],
  ],
  text: (rows) => `INSERT INTO spend (wallet_id, spender, period, starts_at, ends_at,
      spent_micros, held_micros)
    SELECT r.wallet_id, r.spender, r.period, ${time('starts_ms')},
      coalesce(${time('ends_ms')}, 'infinity'), r.spent_micros, r.held_micros FROM ${rows}
    ON CONFLICT (wallet_id, spender, period, starts_at) DO UPDATE
      SET spent_micros = excluded.spent_micros, held_micros = excluded.held_micros`,
});
