// Records of an audit as they are read: by place, by filter, page by page.
import type { Queryable } from '../driver/sql.ts';

export interface StoredRecord {
  seq: number;
  /** Canonical JSON, as it is hashed. */
  record: string;
  link: Buffer;
  /** Null: blanked, since its person was erased. */
  details: string | null;
  salt: Buffer | null;
}

type Row = {
  seq: bigint;
  record: string;
  link: Uint8Array;
  details: string | null;
  salt: Uint8Array | null;
};

function readRecord(row: Row): StoredRecord {
  return {
    seq: Number(row.seq),
    record: row.record,
    link: Buffer.from(row.link),
    details: row.details,
    salt: row.salt === null ? null : Buffer.from(row.salt),
  };
}

export async function findRecord(
  sql: Queryable,
  organizationId: number,
  seq: number,
): Promise<StoredRecord | null> {
  const [row] = await sql<Row[]>`
    SELECT seq, record, link, details, salt FROM organization_audit_records
    WHERE organization_id = ${organizationId} AND seq = ${seq}`;
  return row === undefined ? null : readRecord(row);
}

export interface RecordFilter {
  actor: string | null;
  action: string | null;
  /** From this moment on, and before that one. */
  from: Date | null;
  to: Date | null;
}

/** Records that pass every given filter, newest first, below `before`. */
export async function listRecords(
  sql: Queryable,
  organizationId: number,
  { actor, action, from, to }: RecordFilter,
  limit: number,
  before: number | null,
): Promise<StoredRecord[]> {
  const rows = await sql<Row[]>`
    SELECT seq, record, link, details, salt FROM organization_audit_records
    WHERE organization_id = ${organizationId}
      AND (${before}::bigint IS NULL OR seq < ${before}::bigint)
      AND (${actor}::text IS NULL OR actor_id = ${actor}::text)
      AND (${action}::text IS NULL OR action = ${action}::text)
      AND (${from}::timestamptz IS NULL OR at >= ${from}::timestamptz)
      AND (${to}::timestamptz IS NULL OR at < ${to}::timestamptz)
    ORDER BY seq DESC LIMIT ${limit}`;
  return rows.map(readRecord);
}

/** In order, at most `limit` of those from one seq to another. */
export async function readRecordsWithin(
  sql: Queryable,
  organizationId: number,
  from: number,
  to: number,
  limit: number,
): Promise<StoredRecord[]> {
  const rows = await sql<Row[]>`
    SELECT seq, record, link, details, salt FROM organization_audit_records
    WHERE organization_id = ${organizationId} AND seq BETWEEN ${from} AND ${to}
    ORDER BY seq LIMIT ${limit}`;
  return rows.map(readRecord);
}

/** The record of the newest anchor; null: nothing was ever pruned. */
export async function findAnchor(
  sql: Queryable,
  organizationId: number,
): Promise<StoredRecord | null> {
  const [row] = await sql<{ seq: bigint }[]>`
    SELECT seq FROM organization_audit_anchors WHERE organization_id = ${organizationId}
    ORDER BY seq DESC LIMIT 1`;
  return row === undefined ? null : findRecord(sql, organizationId, Number(row.seq));
}
