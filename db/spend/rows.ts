// What keys may spend of a wallet, and what they spent and hold of it. It is read with the wallet,
// and moved by its own writes.
import type { Queryable } from '../driver/sql.ts';
import type { SpendPeriod } from './period.ts';

/** What bounds a spender. Null: it is counted, and has no bound. */
export interface CapRow {
  spender: string;
  period: SpendPeriod;
  capMicros: bigint | null;
}

/** The counter of one spender and period. */
export interface SpendRow {
  spender: string;
  period: SpendPeriod;
  startsMs: number;
  endsMs: number | null;
  spentMicros: bigint;
  heldMicros: bigint;
}

export interface CounterRows {
  caps: CapRow[];
  spend: SpendRow[];
  /** The keys of active holds. */
  spenders: ReadonlyMap<string, string>;
  /** Counters of periods that ended before this, and hold nothing, are not among them. */
  readFromMs: number;
}

type RawCounters = {
  caps: [spender: string, period: SpendPeriod, cap: string][];
  spend: [string, SpendPeriod, number, number | null, spent: string, held: string][];
  read_from_ms: number;
};

export type { RawCounters };

/** Nothing is settled so long after its period: what is, is not taken of who has a cap. */
const lateDays = 2;
/** Revoked keys whose caps are read: nobody makes a wallet large by making keys. */
const revokedMax = 500;
const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`;
const recent = (column: string) => `${column} > now() - interval '${lateDays} days'`;

/** In a statement where the wallet is `w`: its caps and counters as one document, or NULL. */
export const countersText = `CASE WHEN w.counts THEN json_build_object(
    'read_from_ms', ${millis(`(now() - interval '${lateDays} days')`)},
    'caps', (SELECT coalesce(json_agg(json_build_array(k.id, k.limit_period,
        k.limit_micros::text)), '[]')
      FROM (SELECT id, limit_period, limit_micros FROM api_keys
        WHERE wallet_id = w.id AND limit_micros IS NOT NULL AND revoked_at IS NULL
        UNION ALL (SELECT id, limit_period, limit_micros FROM api_keys
          WHERE wallet_id = w.id AND limit_micros IS NOT NULL AND ${recent('revoked_at')}
          ORDER BY revoked_at DESC LIMIT ${revokedMax})) k),
    'spend', (SELECT coalesce(json_agg(json_build_array(s.spender, s.period,
        ${millis('s.starts_at')},
        CASE WHEN isfinite(s.ends_at) THEN ${millis('s.ends_at')} END,
        s.spent_micros::text, s.held_micros::text)), '[]')
      FROM spend s WHERE s.wallet_id = w.id
        AND (s.held_micros > 0 OR ${recent('s.ends_at')}))) END`;

export function readCounters(raw: RawCounters): CounterRows {
  return {
    caps: raw.caps.map(([spender, period, cap]) => ({ spender, period, capMicros: BigInt(cap) })),
    spend: raw.spend.map(([spender, period, startsMs, endsMs, spent, held]) => ({
      spender,
      period,
      startsMs,
      endsMs,
      spentMicros: BigInt(spent),
      heldMicros: BigInt(held),
    })),
    spenders: new Map(),
    readFromMs: raw.read_from_ms,
  };
}

/** Forgets counters of periods that ended long ago; returns how many. */
export async function sweepSpend(sql: Queryable, limit: number): Promise<number> {
  const result = await sql`
    DELETE FROM spend WHERE ctid IN (
      SELECT s.ctid FROM spend s
      WHERE s.ends_at < now() - interval '40 days' AND s.held_micros = 0
      ORDER BY s.ends_at LIMIT ${limit})`;
  return result.count;
}
