// What an organization's wallet spent and holds in this month, as its counter has it.
import type { Queryable } from '../driver/sql.ts';
import { periodAt } from '../spend/period.ts';

export interface OrganizationMonth {
  startsMs: number;
  endsMs: number;
  spentMicros: bigint;
  heldMicros: bigint;
}

export async function readMonth(
  sql: Queryable,
  walletId: string,
  nowMs: number,
): Promise<OrganizationMonth> {
  const { startsMs, endsMs } = periodAt('month', nowMs);
  const [row] = await sql<{ spent_micros: bigint; held_micros: bigint }[]>`
    SELECT spent_micros, held_micros FROM spend
    WHERE wallet_id = ${walletId} AND spender = ${walletId} AND period = 'month'
      AND starts_at = to_timestamp(${startsMs}::float8 / 1000)`;
  const { spent_micros: spentMicros = 0n, held_micros: heldMicros = 0n } = row ?? {};
  return { startsMs, endsMs: endsMs ?? startsMs, spentMicros, heldMicros };
}
