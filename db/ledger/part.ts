// One part of the ledger's statement: rows of a batch, and what is done with them. They go to the
// server as plain values where there is one of each part, else column by column.
import { arrayLiteral, columnLiteral, type Scalar, scalarText } from '../driver/array.ts';
import type { WalletWrite } from './write.ts';

export type Column<R> = readonly [name: string, type: string, cellOf: (row: R) => Scalar];

/** Columns of the whole numbers that a record in each row has; NULL where a row has none. */
export function bigintsOf<R, K extends string>(
  members: readonly (readonly [name: string, member: K])[],
  recordOf: (row: R) => Readonly<Record<K, number | bigint>> | null,
): Column<R>[] {
  return members.map(([name, member]) => [name, 'bigint', (row) => recordOf(row)?.[member]]);
}

interface PartOf<R> {
  name: string;
  /** Its rows in a write. */
  rows: (write: WalletWrite) => readonly R[];
  columns: readonly Column<R>[];
  /** The statement, where `rows` is this part's rows as `r`, each with its `wallet_id`. */
  text: (rows: string) => string;
  /** A part that this one waits for where both are there: parts of a statement have no order. */
  after?: string;
  /** Its rows count for the bound of a statement, as entries do. */
  isCounted?: true;
}

/**
 * How rows go to the server. `row`: those of one write, at most one of each part, as plain values:
 * arrays would be a tenth of such a statement. `rows`: those of one write. `writes`: of several.
 */
export type Form = 'row' | 'rows' | 'writes';

/** A part whose type of row is its own affair. */
export interface Part {
  name: string;
  columns: readonly Column<never>[];
  text: (rows: string) => string;
  after: string | null;
  isCounted: boolean;
  count(write: WalletWrite): number;
  /**
   * A value or an array literal for each column; none without rows. With `writes`, two columns
   * before them say whose a row is: the place of its write, from 1, and the id of the wallet.
   */
  parameters(writes: readonly WalletWrite[], form: Form): (string | null)[];
}

export function definePart<R>(part: PartOf<R>): Part {
  const { name, rows, columns, text, after = null, isCounted = false } = part;
  const literalsOf = (all: readonly R[]) =>
    columns.map(([, , cellOf]) => columnLiteral(all, cellOf));
  const ofOne = (own: readonly R[], form: Form) => {
    const [row] = own;
    if (row === undefined) return [];
    if (form === 'rows') return literalsOf(own);
    return columns.map(([, , cellOf]) => scalarText(cellOf(row)));
  };
  const ofMany = (writes: readonly WalletWrite[]) => {
    const all: R[] = [];
    const slots: number[] = [];
    const walletIds: string[] = [];
    writes.forEach((write, index) => {
      for (const row of rows(write)) {
        all.push(row);
        slots.push(index + 1);
        walletIds.push(write.walletId);
      }
    });
    if (all.length === 0) return [];
    return [arrayLiteral(slots), arrayLiteral(walletIds), ...literalsOf(all)];
  };
  return {
    name,
    columns,
    text,
    after,
    isCounted,
    count: (write) => rows(write).length,
    parameters(writes, form) {
      const [first] = writes;
      if (form === 'writes' || first === undefined) return ofMany(writes);
      return ofOne(rows(first), form);
    },
  };
}
