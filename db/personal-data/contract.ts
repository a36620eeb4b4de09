// What a domain says of the data of a person: which tables it has, what of them an export gives,
// and how they are erased. Every table of the database is in one of these, or a test fails.

/** What becomes of rows of a person whose account is erased; the text says why. */
export type Fate =
  | 'erased'
  /** The row stays, and nothing in it tells of the person. */
  | { blanked: string }
  | { kept: string };

export interface TableRule {
  /** What a legal hold of an organization keeps, whatever would erase it. */
  hold: 'held' | 'exempt';
  /** `true`: an export has what is the person's in it. A text says why it has not. */
  exported: true | string;
  fate: Fate;
}

/** Rows that an export gives, as pieces of SQL. `$1` is the account. */
export interface ExportedList {
  /** The member of the file. */
  name: string;
  /** A table with its alias. */
  from: string;
  /** Which of its rows are the account's. */
  where: string;
  /** Unique among these, and their order. */
  cursor: string;
  /** One row as JSON. */
  item: string;
  /** About how many bytes that is where it may be many; left out: few. */
  weight?: string;
}

/**
 * SQL that erases a page of rows: of the account `$1`, behind the place `$2`, `$3` at most. It
 * returns a row for each that it looked at, in order, with `cursor`, and `blob_id` of an object
 * that goes with it. Repeated from the beginning, it finds nothing left to do.
 */
export type ErasingStep = string;

export interface PersonalDomain {
  /** The name of its file in an export, without the ending; null: it gives none. */
  file: string | null;
  tables: Readonly<Record<string, TableRule>>;
  lists: readonly ExportedList[];
  /** In this order. */
  erasing: readonly ErasingStep[];
}

/** A row as JSON: columns by their names, and what is written otherwise. */
export function jsonOf(
  alias: string,
  columns: readonly string[],
  written: Readonly<Record<string, string>> = {},
): string {
  const members = [
    ...columns.map((column) => `'${column}', ${alias}.${column}`),
    ...Object.entries(written).map(([name, text]) => `'${name}', ${text}`),
  ];
  return `json_build_object(${members.join(', ')})`;
}

/** Removes the account's rows, by a text of each; `blob`: the object that goes with a row. */
export function deleting(table: string, key: string, blob = 'NULL::text'): ErasingStep {
  return `WITH page AS (
      SELECT t.${key} AS cursor, ${blob} AS blob_id FROM ${table} t
      WHERE t.account_id = $1 AND t.${key} > $2 ORDER BY t.${key} LIMIT $3 FOR UPDATE),
    gone AS (
      DELETE FROM ${table} t USING page p WHERE t.account_id = $1 AND t.${key} = p.cursor)
    SELECT cursor, blob_id FROM page ORDER BY cursor`;
}
