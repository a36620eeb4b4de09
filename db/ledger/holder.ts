// What holds funds, as the database has it: its parts of the statement and what the audit compares.
// Left columns are read of it with a hold that was left behind.
import type { IdPrefix } from '../../runtime/ids.ts';
import type { Queryable } from '../driver/sql.ts';
import type { Part } from './part.ts';

/** Values of its left columns; null where the hold has no such row. */
export type LeftRow = Readonly<Record<string, unknown>>;

export interface HolderRows {
  /** As holds have it. */
  readonly kind: string;
  /** What its ids begin with: they are ordered by time. */
  readonly idPrefix: IdPrefix;
  /** Its hold goes on without the process that made it: nobody ends it for that process's end. */
  readonly outlivesProcess: boolean;
  /** Behind those of the ledger itself, in this order. */
  readonly parts: readonly Part[];
  /** Its table, under a name that no other holder has in a query. */
  readonly table: string;
  readonly alias: string;
  /** The column of its state, and what that may be while it lives. */
  readonly state: string;
  readonly live: readonly string[];
  /** Which of its rows the audit counts as charged. */
  readonly charged: string;
  /** Its rows have the key that they are for, as `api_key_id`. */
  readonly isKeyed?: true;
  /** Columns that whoever ends its hold without it has to know. */
  readonly leftColumns: readonly string[];
  /** Its ends exclude others by a unique index; absent: nothing else ends it. */
  readonly fence?: Fence;
}

/** How an end is kept out that comes from who was replaced. */
export interface Fence {
  /** The part whose rows are ends. */
  readonly part: string;
  /** Ids of those rows whose writer was replaced. */
  findReplaced(sql: Queryable, rows: readonly object[]): Promise<string[]>;
}
