// Checkpoints of audits: signed notes of a size and a root, kept for ever.
import type { Queryable, Sql, Transaction } from '../driver/sql.ts';

export interface StoredCheckpoint {
  size: number;
  root: Buffer;
  note: string;
  at: Date;
}

type Row = { size: bigint; root: Uint8Array; note: string; at: Date };

function readCheckpoint(row: Row): StoredCheckpoint {
  return { size: Number(row.size), root: Buffer.from(row.root), note: row.note, at: row.at };
}

/** The one of this size, whoever was first to write it. */
export async function putCheckpoint(
  transaction: Transaction,
  organizationId: number,
  { size, root, note }: Pick<StoredCheckpoint, 'size' | 'root' | 'note'>,
): Promise<StoredCheckpoint> {
  await transaction`
    INSERT INTO organization_audit_checkpoints (organization_id, size, root, note)
    VALUES (${organizationId}, ${size}, ${root}, ${note}) ON CONFLICT DO NOTHING`;
  await transaction`
    UPDATE organization_audit_heads SET checkpoint_size = ${size}, checkpoint_at = now()
    WHERE organization_id = ${organizationId}`;
  const stored = await findCheckpoint(transaction, organizationId, size);
  if (stored === null) throw new Error('a checkpoint that was just written is gone');
  return stored;
}

export async function findCheckpoint(
  sql: Queryable,
  organizationId: number,
  size: number,
): Promise<StoredCheckpoint | null> {
  const [row] = await sql<Row[]>`
    SELECT size, root, note, at FROM organization_audit_checkpoints
    WHERE organization_id = ${organizationId} AND size = ${size}`;
  return row === undefined ? null : readCheckpoint(row);
}

/** The newest, at least of this size. */
export async function findNewestCheckpoint(
  sql: Queryable,
  organizationId: number,
  sizeMin: number,
): Promise<StoredCheckpoint | null> {
  const [row] = await sql<Row[]>`
    SELECT size, root, note, at FROM organization_audit_checkpoints
    WHERE organization_id = ${organizationId} AND size >= ${sizeMin}
    ORDER BY size DESC LIMIT 1`;
  return row === undefined ? null : readCheckpoint(row);
}

/** Newest first, below `before`. */
export async function listCheckpoints(
  sql: Queryable,
  organizationId: number,
  limit: number,
  before: number | null,
): Promise<StoredCheckpoint[]> {
  const rows = await sql<Row[]>`
    SELECT size, root, note, at FROM organization_audit_checkpoints
    WHERE organization_id = ${organizationId}
      AND (${before}::bigint IS NULL OR size < ${before}::bigint)
    ORDER BY size DESC LIMIT ${limit}`;
  return rows.map(readCheckpoint);
}

/** In order, of sizes from one to another. */
export async function listCheckpointsWithin(
  sql: Queryable,
  organizationId: number,
  from: number,
  to: number,
): Promise<StoredCheckpoint[]> {
  const rows = await sql<Row[]>`
    SELECT size, root, note, at FROM organization_audit_checkpoints
    WHERE organization_id = ${organizationId} AND size BETWEEN ${from} AND ${to}
    ORDER BY size`;
  return rows.map(readCheckpoint);
}

/** Organizations behind `after` whose records want a checkpoint: many of them, or old ones. */
export async function listDueCheckpoints(
  sql: Sql,
  { recordsMin, ageMs }: { recordsMin: number; ageMs: number },
  after: number,
  limit: number,
): Promise<number[]> {
  const rows = await sql<{ organization_id: number }[]>`
    SELECT organization_id FROM organization_audit_heads
    WHERE organization_id > ${after} AND seq > checkpoint_size
      AND (seq >= checkpoint_size + ${recordsMin}
        OR checkpoint_at <= now() - ${ageMs}::float8 * interval '1 ms')
    ORDER BY organization_id LIMIT ${limit}`;
  return rows.map((row) => row.organization_id);
}
