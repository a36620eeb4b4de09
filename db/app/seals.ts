// What is sealed in rows of apps and MCP servers, and under which key. After a change of the master
// key it is sealed anew.
import type { Queryable } from '../driver/sql.ts';

/** A column that is sealed: `row` names the row within its purpose. */
interface SealedColumn {
  readonly table: string;
  readonly row: string;
  readonly sealed: string;
  readonly keyId: string;
}

const columns = {
  feedback: { table: 'app_feedback', row: 't.digest', sealed: 'email', keyId: 'email_key_id' },
  error: {
    table: 'app_error_samples',
    row: 't.fingerprint',
    sealed: 'email',
    keyId: 'email_key_id',
  },
  mcpServer: {
    table: 'mcp_servers',
    row: 't.id',
    sealed: 'authorization_sealed',
    keyId: 'authorization_key_id',
  },
} as const satisfies Record<string, SealedColumn>;

export type SealedPlace = keyof typeof columns;
export const sealedPlaces = Object.keys(columns) as SealedPlace[];

export interface SealedRow {
  row: string;
  sealed: Buffer;
}

/** Rows that this key has sealed. */
export async function listSealed(
  sql: Queryable,
  place: SealedPlace,
  keyId: string,
  limit: number,
): Promise<SealedRow[]> {
  const { table, row, sealed, keyId: column } = columns[place];
  return sql.unsafe<SealedRow[]>(
    `SELECT ${row} AS row, t.${sealed} AS sealed FROM ${table} t
    WHERE t.${column} = $1 LIMIT $2`,
    [keyId, limit],
  );
}

/** Only what was read is replaced. */
export async function putSealedAgain(
  sql: Queryable,
  place: SealedPlace,
  { row, sealed: before }: SealedRow,
  after: { sealed: Buffer; keyId: string },
): Promise<void> {
  const { table, row: named, sealed, keyId: column } = columns[place];
  await sql.unsafe(
    `UPDATE ${table} t SET ${sealed} = $3, ${column} = $4 WHERE ${named} = $1 AND t.${sealed} = $2`,
    [row, before, after.sealed, after.keyId],
  );
}
