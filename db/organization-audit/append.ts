// The audit of an organization: what an act of it writes, in the act's own transaction. Without its
// record there is no act.
import { columnLiteral, type Scalar } from '../driver/array.ts';
import type { Transaction } from '../driver/sql.ts';
import { type PreparedRecord, prepareRecord } from './prepared.ts';
import type { NewRecord } from './record.ts';

/**
 * Appends in the act's transaction, as its last statement: the organization's head is locked until
 * it ends. One round trip. Returns the record's seq.
 */
export function appendAudit(
  transaction: Transaction,
  organizationId: number,
  record: NewRecord,
): Promise<number> {
  return appendAudits(transaction, organizationId, [record]);
}

/** As `appendAudit`, of several records in their order. Returns the last one's seq. */
export function appendAudits(
  transaction: Transaction,
  organizationId: number,
  records: readonly NewRecord[],
): Promise<number> {
  const prepared = records.map((record) => prepareRecord(organizationId, record));
  return appendPrepared(transaction, organizationId, prepared);
}

/** As `appendAudits`, of records whose salts are chosen. */
export async function appendPrepared(
  transaction: Transaction,
  organizationId: number,
  records: readonly PreparedRecord[],
): Promise<number> {
  const column = (cellOf: (record: PreparedRecord) => Scalar) => columnLiteral(records, cellOf);
  const [row] = await transaction<{ seq: bigint }[]>`
    SELECT append_organization_audit(${organizationId}::integer,
      ${column((each) => each.beforeAt)}::text::text[],
      ${column((each) => each.beforePrev)}::text::text[],
      ${column((each) => each.beforeSeq)}::text::text[],
      ${column((each) => each.afterSeq)}::text::text[],
      ${column((each) => each.actorId)}::text::text[],
      ${column((each) => each.action)}::text::text[],
      ${column((each) => each.targetId)}::text::text[],
      ${column((each) => each.address)}::text::text[],
      ${column((each) => each.details)}::text::text[],
      ${column((each) => each.salt)}::text::text[]) AS seq`;
  if (row === undefined) throw new Error('the append of an audit gave no row');
  return Number(row.seq);
}
