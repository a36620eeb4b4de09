// An export of an audit, line by line, under a checkpoint that is made before. What lies below it
// does not change, so no transaction stays open while a client reads.
import type { Sql } from '../../db/driver/sql.ts';
import {
  listCheckpointsWithin,
  type StoredCheckpoint,
} from '../../db/organization-audit/checkpoints.ts';
import { findHead } from '../../db/organization-audit/head.ts';
import { listAuditKeys } from '../../db/organization-audit/keys.ts';
import {
  findAnchor,
  readRecordsWithin,
  type StoredRecord,
} from '../../db/organization-audit/records.ts';
import { auditLimits } from './limits.ts';
import { consistencyProof, inclusionProof, perfectSubtrees } from './merkle.ts';
import { readTree } from './tree.ts';
import {
  type AnchorLine,
  encodeHashes,
  exportFormat,
  type RecordLine,
  writeLine,
} from './verify/lines.ts';

export interface ExportOrder {
  organizationId: number;
  fromSeq: number;
  toSeq: number;
  /** A checkpoint that somebody keeps, before `fromSeq`. */
  checkpoint: StoredCheckpoint | null;
  /** The newest checkpoint. */
  end: StoredCheckpoint;
}

function contentOf({ record, details, salt }: StoredRecord): Omit<RecordLine, 'type'> {
  return {
    record,
    details: details === null ? null : JSON.parse(details),
    salt: salt === null ? null : salt.toString('hex'),
  };
}

/** The last record that is gone, and the anchor that says so if the range meets it. */
async function readStart(sql: Sql, { organizationId, fromSeq, end }: ExportOrder) {
  const head = await findHead(sql, organizationId);
  if (head === null) throw new Error(`organization ${organizationId} has no audit`);
  const { origin, prunedThrough } = head;
  if (fromSeq > prunedThrough) return { origin, first: fromSeq, anchor: null };
  const anchor = await findAnchor(sql, organizationId);
  if (anchor === null || anchor.seq > end.size)
    throw new Error('an anchor is newer than its export');
  return { origin, first: prunedThrough + 1, anchor };
}

export async function* exportLines(sql: Sql, order: ExportOrder): AsyncGenerator<string> {
  const { organizationId, fromSeq, toSeq, checkpoint, end } = order;
  const { origin, first, anchor } = await readStart(sql, order);
  const keys = await listAuditKeys(sql, organizationId);
  const { size } = end;
  const leaves = [first - 2, toSeq, (checkpoint?.size ?? 0) - 1, (anchor?.seq ?? 0) - 1];
  const inside = leaves.filter((leaf) => leaf >= 0 && leaf < size);
  const hashOf = await readTree(sql, organizationId, size, inside);
  const subtrees = (from: number, to: number) =>
    encodeHashes(perfectSubtrees(from, to).map(hashOf));
  yield writeLine({
    type: 'header',
    format: exportFormat,
    organization_id: organizationId,
    origin,
    vkeys: keys.map(({ vkey }) => vkey),
    from_seq: fromSeq,
    to_seq: toSeq,
    left: subtrees(0, first - 1),
  });
  if (anchor !== null) {
    const proof = encodeHashes(inclusionProof(anchor.seq - 1, size, hashOf));
    const line: AnchorLine = { type: 'anchor', ...contentOf(anchor), proof };
    yield writeLine(line);
  }
  if (checkpoint !== null && checkpoint.size < first) {
    const consistency = encodeHashes(consistencyProof(checkpoint.size, size, hashOf));
    yield writeLine({ type: 'checkpoint', note: checkpoint.note, consistency });
  }
  yield* recordLines(sql, order, first);
  yield writeLine({ type: 'end', right: subtrees(toSeq, size), note: end.note });
}

/** Records, each checkpoint behind the last record that it has. */
async function* recordLines(sql: Sql, order: ExportOrder, first: number): AsyncGenerator<string> {
  const { organizationId, toSeq } = order;
  const { exportPage } = auditLimits;
  for (let from = first; from <= toSeq; from += exportPage) {
    const to = Math.min(toSeq, from + exportPage - 1);
    const records = await readRecordsWithin(sql, organizationId, from, to, exportPage);
    // Some have been pruned since it began.
    if (records.length !== to - from + 1) throw new Error('an export lost records meanwhile');
    const checkpoints = await listCheckpointsWithin(sql, organizationId, from, to);
    const notes = new Map(checkpoints.map(({ size, note }) => [size, note]));
    let page = '';
    for (const record of records) {
      page += writeLine({ type: 'record', ...contentOf(record) });
      const note = notes.get(record.seq);
      if (note !== undefined) page += writeLine({ type: 'checkpoint', note });
    }
    yield page;
  }
}
