// What an export of money has, as pages of CSV. Each page is a short look at the database of its
// own: a client that reads slowly holds no connection and no snapshot.
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type LinePlace,
  type LinesAsked,
  type LinesPage,
  listLines,
  placeBefore,
} from '../../db/billing/ledger.ts';
import { listPurchases } from '../../db/billing.ts';
import { type Sql, type Transaction, withDeadline } from '../../db/driver/sql.ts';
import type { Purchase } from '../../db/purchases.ts';
import { dayMs } from '../../db/usage/closing.ts';
import { readUsageState, type UsageState } from '../../db/usage/turn.ts';
import { type DayRange, listUsageLines, type UsageLine, type UsageOwner } from '../../db/usage.ts';
import { type Cell, csvBytes } from './csv.ts';
import {
  ledgerCells,
  ledgerHeader,
  purchaseCells,
  purchasesHeader,
  usageCells,
  usageHeader,
} from './csv-rows.ts';

export const exportKinds = ['usage', 'ledger', 'purchases'] as const;
export type ExportKind = (typeof exportKinds)[number];

/** Rows of a look, and of a piece: 100 lines are made in 2 ms. */
const pageRows = 500;
const pieceRows = 100;
/** Days that are added up in one look: a busy wallet has hundreds of lines a day. */
const lookDays = 7;

type Page = Cell[][];

interface Asked {
  sql: Sql;
  owner: UsageOwner;
  range: DayRange;
}

function look<T>(
  sql: Sql,
  work: (transaction: Transaction, state: UsageState) => Promise<T>,
): Promise<T> {
  const looked = sql.begin('isolation level repeatable read read only', async (transaction) =>
    work(transaction, await readUsageState(transaction)),
  );
  return withDeadline(looked as Promise<T>);
}

async function* usagePages({ sql, owner, range }: Asked): AsyncGenerator<Page> {
  yield [usageHeader];
  for (let fromMs = range.fromMs; fromMs < range.untilMs; fromMs += lookDays * dayMs) {
    const days = { fromMs, untilMs: Math.min(fromMs + lookDays * dayMs, range.untilMs) };
    for (let after: UsageLine | null = null; ; ) {
      const page = { after, limit: pageRows };
      const lines: UsageLine[] = await look(sql, (transaction, state) =>
        listUsageLines(transaction, state, owner, days, page),
      );
      yield lines.map(usageCells);
      after = lines.at(-1) ?? null;
      if (lines.length < pageRows) break;
    }
  }
}

async function* ledgerPages({ sql, owner, range }: Asked): AsyncGenerator<Page> {
  yield [ledgerHeader];
  for (let after: LinePlace | null = placeBefore(range.untilMs); after !== null; ) {
    const page: LinesAsked = { limit: pageRows, after, firstMs: range.fromMs };
    const { lines, next }: LinesPage = await look(sql, (transaction, state) =>
      listLines(transaction, state, owner, page),
    );
    yield lines.map(ledgerCells);
    after = next;
  }
}

async function* purchasePages({ sql, owner, range }: Asked): AsyncGenerator<Page> {
  yield [purchasesHeader];
  const madeMs = [range.fromMs, range.untilMs] as const;
  for (let afterId: string | null = null; ; ) {
    const page = { limit: pageRows, madeMs, afterId };
    const rows: Purchase[] = await withDeadline(listPurchases(sql, owner, page));
    yield rows.map(purchaseCells);
    afterId = rows.at(-1)?.id ?? null;
    if (rows.length < pageRows) return;
  }
}

const pagesOf: Readonly<Record<ExportKind, (asked: Asked) => AsyncGenerator<Page>>> = {
  usage: usagePages,
  ledger: ledgerPages,
  purchases: purchasePages,
};

/** The file, piece by piece; the first has the header and the first rows. */
export async function* csvPieces(what: ExportKind, asked: Asked): AsyncGenerator<Uint8Array> {
  let waiting: Page = [];
  for await (const page of pagesOf[what](asked)) {
    waiting.push(...page);
    while (waiting.length >= pieceRows) {
      yield csvBytes(waiting.slice(0, pieceRows));
      waiting = waiting.slice(pieceRows);
      await nextTurn();
    }
  }
  if (waiting.length > 0) yield csvBytes(waiting);
}
