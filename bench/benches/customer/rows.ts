// Charged rows by the million, made by the server itself: each with what the journal says of it.
// They are older than the gateway that is measured, so they are counted as old days are.
import { closeUsage, countUsage } from '../../../actors/usage/rounds.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { progress } from '../bench.ts';

const DAY_MS = 86_400_000;
const CHUNK = 500_000;
const LIMITS = {
  behindMs: 60_000,
  rowsMax: 100_000,
  roundForMs: 60_000,
  quartersKeptMs: 400 * DAY_MS,
  forgottenMax: 5_000,
};

export interface Answers {
  /** Their wallets have the same digits. They take turns. */
  accountIds: readonly string[];
  count: number;
  days: number;
  keys: number;
  models: number;
}

/** Room that a row keeps for its own end is not needed: these have ended. */
export async function packRows(sql: Sql): Promise<void> {
  await sql`ALTER TABLE generations SET (fillfactor = 100)`;
}

/** Answers of these accounts, spread over the days up to a minute ago. */
export async function makeAnswers(sql: Sql, answers: Answers): Promise<void> {
  const { accountIds, count, days, keys, models } = answers;
  const untilMs = Date.now() - 120_000;
  const stepMs = (days * DAY_MS) / count;
  await sql`CREATE TEMPORARY TABLE spenders AS
    SELECT id, row_number() OVER () - 1 AS number
    FROM unnest(${[...accountIds]}::text[]) AS a (id)`;
  await sql`CREATE INDEX ON spenders (number)`;
  for (let from = 0; from < count; from += CHUNK) {
    const until = Math.min(from + CHUNK, count);
    const rows = sql`SELECT n, s.id AS account, 'wal' || substr(s.id, 4) AS wallet,
        to_timestamp(t.ms / 1000.0) AS at,
        lpad(to_hex(t.ms), 12, '0') || '00' || lpad(to_hex(n), 10, '0') AS suffix
      FROM generate_series(${from}::bigint, ${until - 1}::bigint) n
      JOIN spenders s ON s.number = n % ${accountIds.length}::bigint,
      LATERAL (SELECT ${untilMs}::bigint - (n * ${stepMs}::float8)::bigint AS ms) t`;
    await sql`
      INSERT INTO generations (id, account_id, wallet_id, api_key_id, route, fingerprint, model,
        instance_id, hold_id, status, created_at, finished_at, usage, charge_micros)
      SELECT 'req_' || suffix, account, wallet,
        'key_' || lpad(to_hex(n * 7 % ${keys}::bigint), 24, '0'),
        '/v1/chat/completions', 'f', 'model-' || n * 13 % ${models}::bigint, 'bench',
        'hold_' || suffix, 'completed', at, at, '{"input_tokens": 900, "output_tokens": 120,
          "cached_input_tokens": 0, "cache_write_tokens": 0, "reasoning_tokens": 0}', 1500
      FROM (${rows}) r`;
    await sql`
      INSERT INTO ledger (operation_id, wallet_id, kind, wallet_micros, held_micros,
        revenue_micros, provider_cost_micros, promotion_micros, purchase_micros, shortfall_micros,
        at)
      SELECT 'hold_' || suffix || '.end', wallet, 'settle', 0, -1500, 100, 1400, 0, 0, 0, at
      FROM (${rows}) r`;
  }
  await sql`DROP TABLE spenders`;
}

/** Counts all of it and closes its days, as rounds do in their own time; how long that takes. */
export async function countAll(sql: Sql): Promise<number> {
  progress('counting them');
  await sql`VACUUM ANALYZE`;
  // The gateway has counted the tables while they were empty. From here on these rows are older
  // than its bounds, as those of an old data folder are.
  await sql`UPDATE usage_progress SET since_id = until_id`;
  await sql`UPDATE usage_state SET closed_from = closed_until`;
  const startedMs = performance.now();
  for (let done = false; !done; ) done = await countUsage(sql, LIMITS);
  for (let done = false; !done; ) done = await closeUsage(sql, LIMITS, { repaired: () => {} });
  const tookMs = performance.now() - startedMs;
  await sql`VACUUM ANALYZE`;
  return tookMs;
}
