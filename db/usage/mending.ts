// Compares quarters with the rows that they were made of, and makes them right, with the days that
// they are in. Repeated, it finds nothing.
import { firstIdAt, timeOfId } from '../../runtime/ids.ts';
import type { Transaction } from '../driver/sql.ts';
import { dayKeys, figureList, figureSums, figures, figuresAdded, quarterKeys } from './figures.ts';
import { endedRows, type UsageSource } from './sources.ts';
import { countedOf, type UsageState } from './turn.ts';

export const quarterMs = 15 * 60_000;

const keyList = ['at', ...quarterKeys].join(', ');
const dayKeyList = ['day', ...dayKeys].join(', ');

/** Narrows rows and their quarters to one account and wallet. */
const ownRows = 'AND wallet_id = $7 AND account_id = $8 AND (account_id, id) >= ($8, $1)';
const ownQuarters = 'AND wallet_id = $7 AND account_id = $8';

/** `$1`, `$2` bound ids, `$3`, `$4` quarters, `$5`, `$6` those in days. */
function mendText(source: UsageSource, isOwn: boolean): string {
  const kinds = source.kinds.map((kind) => `'${kind}'`).join(', ');
  const differences = figures
    .map((name) => `coalesce(d.${name}, 0) - coalesce(s.${name}, 0) AS ${name}`)
    .join(', ');
  const pairs = figures.map((name) => `d.${name} IS DISTINCT FROM s.${name}`).join(' OR ');
  const isClosed = 'at >= to_timestamp($5::float8 / 1000) AND at < to_timestamp($6::float8 / 1000)';
  const rowsOwn = isOwn ? ownRows : '';
  const quartersOwn = isOwn ? ownQuarters : '';
  return `WITH derived AS (
      SELECT ${keyList}, ${figureSums}
      FROM (${endedRows(source, `id >= $1 AND id < $2 ${rowsOwn}`)}) AS r GROUP BY ${keyList}),
    stored AS (
      SELECT ${keyList}, ${figureList} FROM usage_quarters
      WHERE at >= to_timestamp($3::float8 / 1000) AND at < to_timestamp($4::float8 / 1000)
        AND kind IN (${kinds}) ${quartersOwn}),
    differing AS MATERIALIZED (
      SELECT ${keyList}, ${differences} FROM derived d FULL JOIN stored s USING (${keyList})
      WHERE ${pairs}),
    quarters AS (
      INSERT INTO usage_quarters AS q (${keyList}, ${figureList})
      SELECT ${keyList}, ${figureList} FROM differing
      ON CONFLICT (${keyList}) DO UPDATE SET ${figuresAdded}),
    days AS (
      INSERT INTO usage_days AS q (${dayKeyList}, ${figureList})
      SELECT (at AT TIME ZONE 'UTC')::date AS day, ${dayKeys.join(', ')}, ${figureSums}
      FROM differing WHERE ${isClosed} GROUP BY ${dayKeyList}
      ON CONFLICT (${dayKeyList}) DO UPDATE SET ${figuresAdded})
    SELECT count(*)::integer AS count FROM differing`;
}

/** Mends a quarter of everybody. Returns how many of its rows differed. */
export async function mendQuarter(
  transaction: Transaction,
  state: UsageState,
  source: UsageSource,
  atMs: number,
): Promise<number> {
  const parameters = parametersOf(state, source, atMs);
  const [row] = await transaction.unsafe<{ count: number }[]>(mendText(source, false), parameters, {
    prepare: true,
  });
  return row?.count ?? 0;
}

/** Mends the quarter in which one request of an account began, for this account and wallet. */
export async function mendAccount(
  transaction: Transaction,
  state: UsageState,
  source: UsageSource,
  { id, walletId, accountId }: { id: string; walletId: string; accountId: string },
): Promise<void> {
  const atMs = Math.floor(timeOfId(id) / quarterMs) * quarterMs;
  const parameters = [...parametersOf(state, source, atMs), walletId, accountId];
  await transaction.unsafe(mendText(source, true), parameters, { prepare: true });
}

function parametersOf(
  state: UsageState,
  { holder: { kind, idPrefix } }: UsageSource,
  atMs: number,
): (string | number)[] {
  const { sinceId, untilId } = countedOf(state, kind);
  const [, fromId = sinceId] = [firstIdAt(idPrefix, atMs), sinceId].sort();
  const [beforeId = untilId] = [firstIdAt(idPrefix, atMs + quarterMs), untilId].sort();
  return [fromId, beforeId, atMs, atMs + quarterMs, state.closedFromMs, state.closedUntilMs];
}
