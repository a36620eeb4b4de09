// The journal of a wallet as its owner reads it: what came in, what was taken back, and a line of
// usage a day. Of holds and charges the journal has most entries, and none of them is read here.
import type { Sql, Transaction } from '../driver/sql.ts';
import { findWallet } from '../journal.ts';
import { dayMs, dayOf } from '../usage/closing.ts';
import { readUsageState, type UsageState } from '../usage/turn.ts';
import { type DayCharge, dayText, readDayCharges, type UsageOwner } from '../usage.ts';

export const lineKinds = [
  'purchase',
  'promotion',
  'reward',
  'referral',
  'expiry',
  'refund',
  'dispute',
  'restore',
  'debt',
  'correction',
  'usage',
] as const;
export type LineKind = (typeof lineKinds)[number];

/** How the balance changed, and by what: a purchase, a grant, a reward or a day. */
export interface LedgerLine {
  kind: LineKind;
  amountMicros: bigint;
  reference: string | null;
  at: Date;
}

/**
 * A place among the lines: those after it are older. `part` counts the lines of one entry. A day's
 * usage is at its first moment, with an empty id, below which no entry of that moment is.
 */
export interface LinePlace {
  atMicros: bigint;
  operationId: string;
  part: number;
}

type PlacedLine = LedgerLine & { place: LinePlace };

interface Entry {
  operationId: string;
  kind: Exclude<LineKind, 'usage'>;
  reference: string | null;
  walletMicros: bigint;
  /** How much of a purchase went to debt at once. */
  debtMicros: bigint;
  at: Date;
  atMicros: bigint;
}

/** Kinds of entries that the index `ledger_rare` has. */
const entriesText = `SELECT l.operation_id AS "operationId", l.at,
    l.wallet_micros AS "walletMicros", (extract(epoch FROM l.at) * 1000000)::bigint AS "atMicros",
    CASE WHEN l.kind = 'grant' THEN l.shortfall_micros ELSE 0 END::bigint AS "debtMicros",
    CASE
      WHEN l.kind IN ('revoke', 'debit') THEN 'correction'
      WHEN l.kind = 'expire' THEN 'expiry'
      WHEN l.kind = 'collect' THEN 'debt'
      WHEN l.kind = 'reverse' THEN coalesce(s.reason, 'refund')
      WHEN l.kind = 'restore' THEN 'restore'
      WHEN l.purchase_micros <> 0 THEN 'purchase'
      WHEN l.operation_id LIKE 'reward.%' THEN 'reward'
      WHEN l.operation_id LIKE 'referral.%' THEN 'referral'
      ELSE 'promotion' END AS kind,
    CASE
      WHEN l.kind IN ('debit', 'collect') THEN NULL
      WHEN l.kind IN ('expire', 'revoke', 'reverse', 'restore')
        OR l.operation_id ~ '^pur_[0-9a-f]{24}[.]paid$' THEN split_part(l.operation_id, '.', 1)
      WHEN l.operation_id ~ '^(reward|referral)[.]' THEN split_part(l.operation_id, '.', 2)
      ELSE (SELECT g.id FROM grants g WHERE g.operation_id = l.operation_id) END AS reference
  FROM ledger l LEFT JOIN purchase_steps s
    ON l.kind = 'reverse' AND s.purchase_id = split_part(l.operation_id, '.', 1)
      AND l.operation_id = s.purchase_id || '.rev.' || s.step
  WHERE l.wallet_id = $1
    AND l.kind IN ('grant', 'expire', 'revoke', 'debit', 'reverse', 'restore', 'collect')`;

const momentOf = (place: number) =>
  `(timestamptz 'epoch' + $${place}::bigint * interval '1 microsecond')`;

async function listEntries(
  transaction: Transaction,
  walletId: string,
  limit: number,
  after: LinePlace | null,
  firstMs: number,
): Promise<Entry[]> {
  const beyond = after === null ? '' : `AND (l.at, l.operation_id) <= (${momentOf(4)}, $5::text)`;
  const parameters = [walletId, limit, BigInt(firstMs) * 1_000n];
  return transaction.unsafe<Entry[]>(
    `${entriesText} AND l.at >= ${momentOf(3)} ${beyond}
      ORDER BY l.at DESC, l.operation_id DESC LIMIT $2`,
    after === null ? parameters : [...parameters, after.atMicros, after.operationId],
    { prepare: true },
  );
}

function* linesOf(entry: Entry): Generator<PlacedLine> {
  const { operationId, kind, reference, walletMicros, debtMicros, at, atMicros } = entry;
  const placed = (part: number) => ({ atMicros, operationId, part });
  const amountMicros = walletMicros + debtMicros;
  yield { kind, amountMicros, reference, at, place: placed(0) };
  if (debtMicros === 0n) return;
  yield { kind: 'debt', amountMicros: -debtMicros, reference, at, place: placed(1) };
}

function usageLine({ dayMs: atMs, chargeMicros }: DayCharge): PlacedLine {
  return {
    kind: 'usage',
    amountMicros: -chargeMicros,
    reference: dayText(atMs),
    at: new Date(atMs),
    place: { atMicros: BigInt(atMs) * 1_000n, operationId: '', part: 0 },
  };
}

/** How many days of usage are looked at in turn; what is idle for long is passed in few looks. */
const lookDays = [32, 128, 512, 4_096] as const;

/** Days with a charge whose line is behind the place, the newest first. */
async function listUsage(
  transaction: Transaction,
  state: UsageState,
  owner: UsageOwner,
  page: LinesAsked,
): Promise<PlacedLine[]> {
  const { limit, after, firstMs } = page;
  let untilMs = dayOf(state.nowMs) + dayMs;
  if (after !== null) {
    const afterMs = Number(after.atMicros / 1_000n);
    // The line of a day is behind all entries of that day.
    untilMs = Math.min(untilMs, dayOf(afterMs) + (after.operationId === '' ? 0 : dayMs));
  }
  const lines: PlacedLine[] = [];
  for (const days of lookDays) {
    const fromMs = Math.max(untilMs - days * dayMs, dayOf(firstMs));
    if (fromMs >= untilMs) break;
    const found = await readDayCharges(transaction, state, owner, { fromMs, untilMs });
    lines.push(...found.map(usageLine));
    if (lines.length > limit) break;
    untilMs = fromMs;
  }
  return lines;
}

export interface LinesAsked {
  limit: number;
  /** Null: from the newest. */
  after: LinePlace | null;
  /** No line is older. */
  firstMs: number;
}

export interface LinesPage {
  lines: LedgerLine[];
  /** Where the next page begins; null: this was the last. */
  next: LinePlace | null;
}

/** The place that all lines before a day's first moment are behind. */
export function placeBefore(dayStartMs: number): LinePlace {
  return { atMicros: BigInt(dayStartMs) * 1_000n, operationId: '', part: 0 };
}

/** Lines of a wallet behind the place, the newest first, none older than `firstMs`. */
export async function listLines(
  transaction: Transaction,
  state: UsageState,
  owner: UsageOwner,
  page: LinesAsked,
): Promise<LinesPage> {
  const { limit, after, firstMs } = page;
  const entries = await listEntries(transaction, owner.walletId, limit + 2, after, firstMs);
  const lines = entries
    .flatMap((entry) => [...linesOf(entry)])
    .filter(
      ({ place }) =>
        after === null || place.operationId !== after.operationId || place.part > after.part,
    );
  const usage = await listUsage(transaction, state, owner, page);
  const all = merged(lines, usage);
  const taken = all.slice(0, limit);
  const last = taken.at(-1);
  return {
    lines: taken.map(({ place: _place, ...line }) => line),
    next: all.length > limit && last !== undefined ? last.place : null,
  };
}

/** Both are in order. Where their moments are equal, entries come first. */
function merged(lines: PlacedLine[], usage: PlacedLine[]): PlacedLine[] {
  const all: PlacedLine[] = [];
  let next = 0;
  for (const line of lines) {
    for (let day = usage[next]; day !== undefined; day = usage[next]) {
      if (day.place.atMicros <= line.place.atMicros) break;
      all.push(day);
      next += 1;
    }
    all.push(line);
  }
  return [...all, ...usage.slice(next)];
}

/** A page of a wallet's lines, in one snapshot; null: there is no such wallet. */
export async function readLines(
  sql: Sql,
  owner: UsageOwner,
  { limit, after }: Pick<LinesAsked, 'limit' | 'after'>,
): Promise<LinesPage | null> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const wallet = await findWallet(transaction, owner.walletId);
    if (wallet === null) return null;
    const state = await readUsageState(transaction);
    const firstMs = wallet.createdAt.getTime();
    return listLines(transaction, state, owner, { limit, after, firstMs });
  });
}
