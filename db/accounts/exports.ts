// Copies of all that is known of a person, on their way: whoever has the epoch makes one.
import type { BlobNamer } from '../blobs/namer.ts';
import type { Queryable, Transaction } from '../driver/sql.ts';

export type ExportStatus = 'queued' | 'running' | 'ready' | 'failed';

export interface AccountExport {
  /** `exp_…` */
  id: string;
  status: ExportStatus;
  createdAt: Date;
  expiresAt: Date;
  /** The archive, once it is ready. */
  file: { blobId: string; bytes: number; sha256: string; readyAt: Date } | null;
}

type Row = {
  id: string;
  status: ExportStatus;
  created_at: Date;
  expires_at: Date;
  blob_id: string | null;
  bytes: number | null;
  sha256: string | null;
  ready_at: Date | null;
};

function readExport(row: Row): AccountExport {
  const { id, status, blob_id: blobId, bytes, sha256, ready_at: readyAt } = row;
  const isReady = blobId !== null && bytes !== null && sha256 !== null && readyAt !== null;
  return {
    id,
    status,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    file: isReady ? { blobId, bytes, sha256, readyAt } : null,
  };
}

function columns(sql: Queryable) {
  return sql`id, status, created_at, expires_at, blob_id, size_bytes::float8 AS bytes, sha256,
    ready_at`;
}

/**
 * A new export; a number: the account had one within the period, and may have another after so many
 * seconds. One that failed counts for nothing.
 */
export async function createExport(
  transaction: Transaction,
  { id, accountId }: { id: string; accountId: string },
  { periodMs, keptMs }: { periodMs: number; keptMs: number },
): Promise<AccountExport | number> {
  await transaction`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
  const [last] = await transaction<{ left: number }[]>`
    SELECT ceil(extract(epoch FROM created_at - now()) + ${periodMs}::float8 / 1000)::integer
      AS left
    FROM account_exports
    WHERE account_id = ${accountId} AND status <> 'failed'
      AND created_at > now() - ${periodMs}::float8 * interval '1 ms'
    ORDER BY created_at DESC LIMIT 1`;
  if (last !== undefined) return Math.max(1, last.left);
  const [row] = await transaction<Row[]>`
    INSERT INTO account_exports (id, account_id, expires_at)
    VALUES (${id}, ${accountId}, now() + ${keptMs}::float8 * interval '1 ms')
    RETURNING ${columns(transaction)}`;
  if (row === undefined) throw new Error('an insert returned no row');
  return readExport(row);
}

/** An export of the account that has not expired; null: there is no such one. */
export async function findExport(
  sql: Queryable,
  accountId: string,
  id: string,
): Promise<AccountExport | null> {
  const [row] = await sql<Row[]>`
    SELECT ${columns(sql)} FROM account_exports
    WHERE id = ${id} AND account_id = ${accountId} AND expires_at > now()`;
  return row === undefined ? null : readExport(row);
}

/** An export that somebody works on, under an epoch of its own. */
export interface TakenExport {
  id: string;
  accountId: string;
  epoch: number;
}

/**
 * Takes an export that nobody works on; null: somebody does, or it is over. One that was taken
 * `triesMax` times fails, and so does that of an account that is to be erased.
 */
export async function takeExport(
  sql: Queryable,
  id: string,
  { leaseMs, triesMax }: { leaseMs: number; triesMax: number },
): Promise<TakenExport | null> {
  const [row] = await sql<{ account_id: string; epoch: number; status: ExportStatus }[]>`
    UPDATE account_exports e SET epoch = e.epoch + 1,
      status = CASE WHEN e.epoch < ${triesMax} AND a.deleting_at IS NULL THEN 'running'
        ELSE 'failed' END,
      lease_until = now() + ${leaseMs}::float8 * interval '1 ms'
    FROM accounts a
    WHERE e.id = ${id} AND a.id = e.account_id AND e.status IN ('queued', 'running')
      AND e.lease_until <= now()
    RETURNING e.account_id, e.epoch::float8 AS epoch, e.status`;
  if (row === undefined || row.status === 'failed') return null;
  return { id, accountId: row.account_id, epoch: row.epoch };
}

/** False: it is another's by now, or over. */
export async function renewExport(
  sql: Queryable,
  { id, epoch }: TakenExport,
  leaseMs: number,
): Promise<boolean> {
  const result = await sql`
    UPDATE account_exports SET lease_until = now() + ${leaseMs}::float8 * interval '1 ms'
    WHERE id = ${id} AND epoch = ${epoch} AND status = 'running'`;
  return result.count > 0;
}

/** Others may take it at once. */
export async function leaveExport(sql: Queryable, { id, epoch }: TakenExport): Promise<void> {
  await sql`
    UPDATE account_exports SET lease_until = now()
    WHERE id = ${id} AND epoch = ${epoch} AND status = 'running'`;
}

/** The archive is stored. Returns until when it is kept; null: the export is another's by now. */
export async function finishExport(
  sql: Queryable,
  { id, epoch }: TakenExport,
  { blobId, bytes, sha256 }: { blobId: string; bytes: number; sha256: string },
  keptMs: number,
): Promise<Date | null> {
  const [row] = await sql<{ expires_at: Date }[]>`
    UPDATE account_exports SET status = 'ready', blob_id = ${blobId}, size_bytes = ${bytes},
      sha256 = ${sha256}, ready_at = now(),
      expires_at = now() + ${keptMs}::float8 * interval '1 ms'
    WHERE id = ${id} AND epoch = ${epoch} AND status = 'running'
    RETURNING expires_at`;
  return row?.expires_at ?? null;
}

/** Exports that nobody works on, each with its epoch. */
export async function listLeftExports(
  sql: Queryable,
  limit: number,
): Promise<{ id: string; epoch: number }[]> {
  return sql<{ id: string; epoch: number }[]>`
    SELECT id, epoch::float8 AS epoch FROM account_exports
    WHERE status IN ('queued', 'running') AND lease_until <= now() ORDER BY id LIMIT ${limit}`;
}

/** Nobody else has the database: nobody works on any. */
export async function freeExports(sql: Queryable): Promise<void> {
  await sql`
    UPDATE account_exports SET lease_until = now()
    WHERE status = 'running' AND lease_until > now()`;
}

/** Exports whose time is over, with their files. */
export async function listOldExports(
  sql: Queryable,
  limit: number,
): Promise<{ id: string; blobId: string | null }[]> {
  return sql<{ id: string; blobId: string | null }[]>`
    SELECT id, blob_id AS "blobId" FROM account_exports
    WHERE expires_at <= now() ORDER BY expires_at LIMIT ${limit}`;
}

export async function forgetExport(sql: Queryable, id: string): Promise<void> {
  await sql`DELETE FROM account_exports WHERE id = ${id}`;
}

/** The archives. */
export const exportBlobs: BlobNamer = {
  noun: 'export',
  named: `SELECT e.blob_id FROM account_exports e WHERE e.blob_id = ANY ($1::text[])`,
  rows: `SELECT e.id AS row_id, e.blob_id, e.size_bytes AS bytes, e.sha256
    FROM account_exports e WHERE e.id > $1 AND e.blob_id IS NOT NULL ORDER BY e.id LIMIT $2`,
};
