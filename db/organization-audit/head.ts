// The head of an organization's audit: its last record, the right edge of the tree, its origin.
import type { Queryable, Transaction } from '../driver/sql.ts';

export interface AuditHead {
  organizationId: number;
  /** Its checkpoints name it, for ever. */
  origin: string;
  /** The last record; it is the size of the tree. */
  seq: number;
  link: Buffer;
  /** Hashes of the largest perfect subtrees, in the order of their leaves. */
  edge: Buffer[];
  checkpointSize: number;
  prunedThrough: number;
}

const hashBytes = 32;

type Row = {
  organization_id: number;
  origin: string;
  seq: bigint;
  link: Uint8Array;
  edge: Uint8Array;
  checkpoint_size: bigint;
  pruned_through: bigint;
};

/** Hashes that lie one behind the other. */
export function splitHashes(bytes: Uint8Array): Buffer[] {
  const all = Buffer.from(bytes);
  return Array.from({ length: all.length / hashBytes }, (_, index) =>
    all.subarray(index * hashBytes, (index + 1) * hashBytes),
  );
}

function readHead(row: Row): AuditHead {
  return {
    organizationId: row.organization_id,
    origin: row.origin,
    seq: Number(row.seq),
    link: Buffer.from(row.link),
    edge: splitHashes(row.edge),
    checkpointSize: Number(row.checkpoint_size),
    prunedThrough: Number(row.pruned_through),
  };
}

/** Null: the organization has no audit. */
export async function findHead(sql: Queryable, organizationId: number): Promise<AuditHead | null> {
  const [row] = await sql<Row[]>`
    SELECT * FROM organization_audit_heads WHERE organization_id = ${organizationId}`;
  return row === undefined ? null : readHead(row);
}

/** Nothing is appended until the transaction ends. */
export async function lockHead(
  transaction: Transaction,
  organizationId: number,
): Promise<AuditHead | null> {
  const [row] = await transaction<Row[]>`
    SELECT * FROM organization_audit_heads WHERE organization_id = ${organizationId} FOR UPDATE`;
  return row === undefined ? null : readHead(row);
}

export async function insertHead(
  transaction: Transaction,
  organizationId: number,
  origin: string,
): Promise<void> {
  await transaction`
    INSERT INTO organization_audit_heads (organization_id, origin)
    VALUES (${organizationId}, ${origin})`;
}

/** How many records of an action there are of the last so many milliseconds. */
export async function countLately(
  transaction: Transaction,
  organizationId: number,
  action: string,
  withinMs: number,
): Promise<number> {
  const [row] = await transaction<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM organization_audit_records
    WHERE organization_id = ${organizationId} AND action = ${action}
      AND at > now() - ${withinMs}::float8 * interval '1 ms'`;
  return row?.count ?? 0;
}
