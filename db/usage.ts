// What a wallet used, as it stands at this moment: closed days, then quarters, then the rows that
// no quarter has yet, in one snapshot. So a settled charge is in the next look.
import { firstIdAt } from '../runtime/ids.ts';
import { arrayLiteral } from './driver/array.ts';
import type { Transaction } from './driver/sql.ts';
import { dayMs, dayOf } from './usage/closing.ts';
import { type Figure, figures, sumsOf } from './usage/figures.ts';
import { endedRows, type UsageKind, usageSources } from './usage/sources.ts';
import { countedOf, countedSinceMs, type UsageState } from './usage/turn.ts';

/** A wallet and an account: the one that it belongs to, or one that it pays for. */
export interface UsageOwner {
  accountId: string;
  walletId: string;
  /** Only what the account used itself; else all that the wallet paid, for members as well. */
  isOwn?: true;
}

/** Whole days in UTC, by their first moments; the last one is not in it. */
export interface DayRange {
  fromMs: number;
  untilMs: number;
}

/** Figures of what was settled, as summaries tell them. */
const settledFigures = [
  'settled',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'charge_micros',
] as const satisfies Figure[];
export type SettledFigures = Record<(typeof settledFigures)[number], bigint>;

/** The range that has today as its last of so many days. */
export function lastDays(nowMs: number, count: number): DayRange {
  const untilMs = dayOf(nowMs) + dayMs;
  return { fromMs: untilMs - count * dayMs, untilMs };
}

export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * As a pair with the account: no plan may go through all rows of a time instead. Two pairs are the
 * whole bound. Beside an equal account the server would read all of that account's index.
 */
const isFrom = (account: string, id: string): string => `(account_id, id) >= (${account}, ${id})`;

/**
 * Rows `day, api_key_id, kind, model` with these figures, not added up: `$1` is the wallet, `$2`
 * the account, or a list of those that the wallet pays for. Bounds of time stand in pairs with
 * these, so that only their indexes fit.
 */
class UsageRows {
  readonly parameters: (string | null)[];
  readonly text: string;
  readonly #columns: string;
  /** A condition that leaves closed days and quarters of other accounts out. */
  readonly #own: string;

  constructor(
    state: UsageState,
    { walletId, accountId, isOwn }: UsageOwner,
    others: readonly string[],
    range: DayRange,
    wanted: readonly Figure[],
  ) {
    this.#columns = `api_key_id, kind, model, ${wanted.join(', ')}`;
    const late = wanted.map(lateColumn).join(', ');
    const isOne = others.length === 0;
    this.parameters = [walletId, isOne ? accountId : arrayLiteral([accountId, ...others])];
    this.#own = isOwn === true ? 'AND account_id = $2' : '';
    const account = isOne ? '$2' : 'o.owner_account';
    const each = (rows: string) =>
      isOne ? `(${rows})` : `unnest($2::text[]) AS o (owner_account) CROSS JOIN LATERAL (${rows})`;
    const { fromMs, untilMs } = range;
    const closedFromMs = Math.min(Math.ceil(state.closedFromMs / dayMs) * dayMs, untilMs);
    const closedUntilMs = Math.max(dayOf(state.closedUntilMs), fromMs);
    const isClosed = closedFromMs < closedUntilMs;
    const parts = isClosed
      ? [
          this.#days(Math.max(fromMs, closedFromMs), Math.min(untilMs, closedUntilMs)),
          this.#quarters(fromMs, closedFromMs),
          this.#quarters(closedUntilMs, untilMs),
        ]
      : [this.#quarters(fromMs, untilMs)];
    for (const source of usageSources) {
      const { kind, idPrefix } = source.holder;
      const { sinceId, untilId } = countedOf(state, kind);
      const firstId = firstIdAt(idPrefix, fromMs);
      const [, liveId = untilId] = [firstId, untilId].sort();
      const [first, live] = [this.#value(firstId), this.#value(liveId)];
      const endId = this.#value(firstIdAt(idPrefix, untilMs));
      const counted = this.#value(untilId);
      const own = `wallet_id = $1 AND (account_id, id) < (${account}, ${endId})`;
      const marked = `SELECT l.id FROM usage_late l
        WHERE l.wallet_id = $1 AND l.id >= ${this.#value(sinceId)} AND l.id < ${counted}`;
      const isLate = `${isFrom(account, first)} AND id = ANY (ARRAY(${marked}))`;
      parts.push(
        `SELECT day, ${this.#columns}
          FROM ${each(endedRows(source, `${own} AND ${isFrom(account, live)}`))} AS r`,
        `SELECT day, api_key_id, kind, model, ${late}
          FROM ${each(endedRows(source, `${own} AND ${isLate}`))} AS r`,
      );
    }
    this.text = parts.filter((part) => part !== null).join('\nUNION ALL ');
  }

  #value(value: string): string {
    this.parameters.push(value);
    return `$${this.parameters.length}::text`;
  }

  #days(fromMs: number, untilMs: number): string | null {
    if (fromMs >= untilMs) return null;
    const from = this.#value(dayText(fromMs));
    const until = this.#value(dayText(untilMs));
    return `SELECT day, ${this.#columns} FROM usage_days
      WHERE wallet_id = $1 AND day >= ${from}::date AND day < ${until}::date ${this.#own}`;
  }

  #quarters(fromMs: number, untilMs: number): string | null {
    if (fromMs >= untilMs) return null;
    const from = this.#value(new Date(fromMs).toISOString());
    const until = this.#value(new Date(untilMs).toISOString());
    return `SELECT (at AT TIME ZONE 'UTC')::date AS day, ${this.#columns}
      FROM usage_quarters
      WHERE (wallet_id, at) >= ($1, ${from}::timestamptz)
        AND (wallet_id, at) < ($1, ${until}::timestamptz) ${this.#own}`;
  }
}

/** Other accounts that the wallet of a person or an organization pays for: memberships. */
async function listOthers(
  transaction: Transaction,
  { accountId, isOwn }: UsageOwner,
): Promise<string[]> {
  if (isOwn === true) return [];
  const rows = await transaction<{ id: string }[]>`
    SELECT a.id FROM accounts a WHERE a.person_id = ${accountId} AND a.kind = 'member'
    UNION ALL SELECT m.account_id FROM organizations g
    JOIN organization_members m ON m.organization_id = g.id WHERE g.account_id = ${accountId}`;
  return rows.map(({ id }) => id);
}

async function usageRows(
  transaction: Transaction,
  state: UsageState,
  owner: UsageOwner,
  range: DayRange,
  wanted: readonly Figure[],
): Promise<UsageRows> {
  return new UsageRows(state, owner, await listOthers(transaction, owner), range, wanted);
}

/** What was charged late was counted before, as a request that failed. */
function lateColumn(name: Figure): string {
  return name === 'requests' || name === 'failed' ? `${name} - 1 AS ${name}` : name;
}

/** Settled usage by one thing at a time. */
export interface UsageByThing {
  models: (SettledFigures & { model: string })[];
  /** `day` as YYYY-MM-DD. */
  days: (SettledFigures & { day: string })[];
  /** Null: what no key has asked for. */
  keys: (SettledFigures & { apiKeyId: string | null })[];
}

type GroupedRow = SettledFigures & {
  day: string | null;
  model: string | null;
  api_key_id: string | null;
};

/** What a wallet used, by model, by day and by key; what was never settled is left out. */
export async function readUsage(
  transaction: Transaction,
  state: UsageState,
  owner: UsageOwner,
  range: DayRange,
): Promise<UsageByThing> {
  const rows = await usageRows(transaction, state, owner, range, settledFigures);
  const found = await transaction.unsafe<GroupedRow[]>(
    `SELECT model, day::text AS day, api_key_id, ${sumsOf(settledFigures)}
      FROM (${rows.text}) AS u GROUP BY GROUPING SETS ((model), (day), (api_key_id))
      HAVING sum(settled) > 0 ORDER BY model, day, api_key_id`,
    rows.parameters,
    { prepare: true },
  );
  return {
    models: found.flatMap((row) => (row.model === null ? [] : [{ ...row, model: row.model }])),
    days: found.flatMap((row) => (row.day === null ? [] : [{ ...row, day: row.day }])),
    keys: found.flatMap((row) =>
      row.api_key_id === null ? [] : [{ ...row, apiKeyId: row.api_key_id || null }],
    ),
  };
}

/** What was settled of a day. */
export interface DayCharge {
  dayMs: number;
  chargeMicros: bigint;
}

/** Charges by day, the newest first. */
export async function readDayCharges(
  transaction: Transaction,
  state: UsageState,
  owner: UsageOwner,
  range: DayRange,
): Promise<DayCharge[]> {
  const rows = await usageRows(transaction, state, owner, range, ['charge_micros']);
  return transaction.unsafe<DayCharge[]>(
    `SELECT (day - date '1970-01-01')::float8 * ${dayMs} AS "dayMs",
        sum(charge_micros)::bigint AS "chargeMicros"
      FROM (${rows.text}) AS u GROUP BY day HAVING sum(charge_micros) <> 0 ORDER BY day DESC`,
    rows.parameters,
    { prepare: true },
  );
}

/** A line of usage as it is exported. */
export interface UsageLine extends Record<Figure, bigint> {
  day: string;
  model: string;
  apiKeyId: string;
  kind: UsageKind;
}

const linePlace = 'ARRAY[day::text, model, api_key_id, kind]';

/** Lines of a range behind `after`, in the order of day, model, key and kind. */
export async function listUsageLines(
  transaction: Transaction,
  state: UsageState,
  owner: UsageOwner,
  range: DayRange,
  page: { after: UsageLine | null; limit: number },
): Promise<UsageLine[]> {
  const rows = await usageRows(transaction, state, owner, range, figures);
  const { after, limit } = page;
  const place = after === null ? null : [after.day, after.model, after.apiKeyId, after.kind];
  const first = rows.parameters.length + 1;
  return transaction.unsafe<UsageLine[]>(
    `SELECT day::text AS day, model, api_key_id AS "apiKeyId", kind, ${sumsOf(figures)}
      FROM (${rows.text}) AS u
      WHERE $${first}::text[] IS NULL OR ${linePlace} > $${first}::text[]
      GROUP BY day, model, api_key_id, kind HAVING sum(requests) > 0
      ORDER BY ${linePlace} LIMIT $${first + 1}`,
    [...rows.parameters, place === null ? null : arrayLiteral(place), limit],
    { prepare: true },
  );
}

/** From when on all usage of a wallet is counted: its beginning, once old days are made. */
export function usageSince(state: UsageState, createdAt: Date): Date {
  return new Date(Math.max(countedSinceMs(state), createdAt.getTime()));
}
