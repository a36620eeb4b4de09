// What of an audit is old goes, under an anchor that says so; its links stay.
import type { Sql, Transaction } from '../driver/sql.ts';
import { tileLength } from './nodes.ts';

/** Organizations behind `after` that have records of more than `daysMin` days: few keep fewer. */
export async function listAudits(sql: Sql, after: number, limit: number): Promise<number[]> {
  const rows = await sql<{ organization_id: number }[]>`
    SELECT organization_id FROM organization_audit_heads
    WHERE organization_id > ${after} AND seq > pruned_through + 1
    ORDER BY organization_id LIMIT ${limit}`;
  return rows.map((row) => row.organization_id);
}

/** The settings of an organization, which do not change until the transaction ends. */
export async function holdSettings(
  transaction: Transaction,
  organizationId: number,
): Promise<Record<string, unknown> | null> {
  const [row] = await transaction<{ settings: Record<string, unknown> }[]>`
    SELECT settings FROM organizations WHERE id = ${organizationId} FOR SHARE`;
  return row?.settings ?? null;
}

/** The last record that is older; 0: none is. */
export async function findLastOlder(
  transaction: Transaction,
  organizationId: number,
  days: number,
): Promise<number> {
  const [row] = await transaction<{ seq: bigint }[]>`
    SELECT seq FROM organization_audit_records
    WHERE organization_id = ${organizationId} AND at < now() - make_interval(days => ${days})
    ORDER BY at DESC, seq DESC LIMIT 1`;
  return Number(row?.seq ?? 0n);
}

/**
 * Deletes the records that an anchor covers, in the transaction that has appended the anchor's
 * record. Links of a tile that is not complete are kept in it.
 */
export async function pruneRecords(
  transaction: Transaction,
  organizationId: number,
  { anchorSeq, through }: { anchorSeq: number; through: number },
): Promise<number> {
  const lastTile = Math.floor((through - 1) / tileLength);
  if (anchorSeq < (lastTile + 1) * tileLength) {
    await transaction`
      SELECT keep_audit_links(${organizationId}::integer, ${lastTile}::bigint, ${through}::bigint,
        NULL)`;
  }
  await transaction`
    INSERT INTO organization_audit_anchors (organization_id, seq, pruned_through)
    VALUES (${organizationId}, ${anchorSeq}, ${through})`;
  await transaction`
    UPDATE organization_audit_heads SET pruned_through = ${through}
    WHERE organization_id = ${organizationId}`;
  const gone = await transaction`
    DELETE FROM organization_audit_records
    WHERE organization_id = ${organizationId} AND seq <= ${through}`;
  return gone.count;
}
