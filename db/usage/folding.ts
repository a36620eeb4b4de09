// Adds rows to the quarters: each once, between two ids, in the transaction that moves the bound.
// Ids are ordered by time, so what is older than all that still runs has ended.
import { firstIdAt } from '../../runtime/ids.ts';
import type { Transaction } from '../driver/sql.ts';
import { figureList, figureSums, figuresAdded, quarterKeys } from './figures.ts';
import { mendAccount } from './mending.ts';
import { endedRows, type UsageSource } from './sources.ts';
import { countedOf, type UsageState } from './turn.ts';

const keyList = ['at', ...quarterKeys].join(', ');

/** Rows of a step, and how far behind the clock it stays. */
export interface FoldLimits {
  rowsMax: number;
  behindMs: number;
}

function addText(source: UsageSource): string {
  return `INSERT INTO usage_quarters AS q (${keyList}, ${figureList})
    SELECT ${keyList}, ${figureSums} FROM (${endedRows(source, 'id >= $1 AND id < $2')}) AS r
    GROUP BY ${keyList}
    ON CONFLICT (${keyList}) DO UPDATE SET ${figuresAdded}`;
}

async function add(
  transaction: Transaction,
  source: UsageSource,
  fromId: string,
  untilId: string,
): Promise<void> {
  await transaction.unsafe(addText(source), [fromId, untilId], { prepare: true });
}

/**
 * Moves a watermark on: what lies below the new one is in the quarters. True: it is as far as it
 * can be at this moment.
 */
export async function foldNext(
  transaction: Transaction,
  state: UsageState,
  source: UsageSource,
  limits: FoldLimits,
): Promise<boolean> {
  const { kind, table, idPrefix } = source.holder;
  const { untilId } = countedOf(state, kind);
  const [row] = await transaction.unsafe<{ oldest: string | null; bound: string | null }[]>(
    `SELECT (SELECT min(o.owner_id) FROM holds o
        WHERE o.claimed AND o.owner_kind = $1 AND o.owner_id >= $2) AS oldest,
      (SELECT id FROM ${table} WHERE id >= $2 ORDER BY id OFFSET $3 LIMIT 1) AS bound`,
    [kind, untilId, limits.rowsMax],
    { prepare: true },
  );
  const clockId = firstIdAt(idPrefix, state.nowMs - limits.behindMs);
  const bounds = [clockId, row?.oldest ?? clockId, row?.bound ?? clockId].sort();
  const [nextId = untilId] = bounds;
  const isLast = row?.bound == null || nextId < row.bound;
  if (nextId <= untilId) {
    await countLate(transaction, state, source, untilId);
    return true;
  }
  // First: it compares quarters with the rows up to the former watermark.
  await countLate(transaction, state, source, nextId);
  await add(transaction, source, untilId, nextId);
  await transaction`
    UPDATE usage_progress SET until_id = ${nextId} WHERE holder = ${kind}`;
  return isLast;
}

/**
 * What was charged late is counted anew. Above the watermark it is counted as it is now when that
 * moves on, and so it is below the other bound.
 */
async function countLate(
  transaction: Transaction,
  state: UsageState,
  source: UsageSource,
  beforeId: string,
): Promise<void> {
  const { table, kind } = source.holder;
  const { sinceId, untilId } = countedOf(state, kind);
  const rows = await transaction.unsafe<{ id: string; wallet_id: string; account_id: string }[]>(
    `DELETE FROM usage_late l USING ${table} t
      WHERE t.id = l.id AND l.id < $1 RETURNING l.id, t.wallet_id, t.account_id`,
    [beforeId],
    { prepare: true },
  );
  const counted = rows.filter(({ id }) => id >= sinceId && id < untilId);
  for (const { id, wallet_id: walletId, account_id: accountId } of counted) {
    await mendAccount(transaction, state, source, { id, walletId, accountId });
  }
}

/** Adds older rows, the newest of them first. True: there are none. */
export async function foldBefore(
  transaction: Transaction,
  state: UsageState,
  source: UsageSource,
  { rowsMax }: Pick<FoldLimits, 'rowsMax'>,
): Promise<boolean> {
  const { kind, table } = source.holder;
  const { sinceId } = countedOf(state, kind);
  if (sinceId === '') return true;
  const [row] = await transaction.unsafe<{ bound: string }[]>(
    `SELECT id AS bound FROM ${table} WHERE id < $1 ORDER BY id DESC OFFSET $2 LIMIT 1`,
    [sinceId, rowsMax - 1],
    { prepare: true },
  );
  const nextId = row?.bound ?? '';
  await add(transaction, source, nextId, sinceId);
  await transaction`
    UPDATE usage_progress SET since_id = ${nextId} WHERE holder = ${kind}`;
  return nextId === '';
}
