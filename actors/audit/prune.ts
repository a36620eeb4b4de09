// Prunes an audit by age. One transaction holds the organization's row, looks for a legal hold,
// writes the anchor and deletes what it covers: whole or not at all.
import type { Sql, Transaction } from '../../db/driver/sql.ts';
import { appendAudit } from '../../db/organization-audit/append.ts';
import { lockHead } from '../../db/organization-audit/head.ts';
import { findLastOlder, holdSettings, pruneRecords } from '../../db/organization-audit/prune.ts';
import { findRecord } from '../../db/organization-audit/records.ts';
import { readSettings } from '../organization/settings.ts';
import { foldRoot, perfectSubtrees } from './merkle.ts';
import { readTree } from './tree.ts';

export type Pruned =
  | { status: 'pruned'; count: number }
  /** Nothing is old enough, or the organization is on legal hold. */
  | { status: 'nothing' | 'held' };

/** One batch of at most `batchMax` records. */
export async function pruneAudit(
  sql: Sql,
  organizationId: number,
  batchMax: number,
): Promise<Pruned> {
  return sql.begin((transaction) => pruneWithin(transaction, organizationId, batchMax));
}

async function pruneWithin(
  transaction: Transaction,
  organizationId: number,
  batchMax: number,
): Promise<Pruned> {
  const stored = await holdSettings(transaction, organizationId);
  if (stored === null) return { status: 'nothing' };
  const settings = readSettings(stored);
  if (settings.legal_hold) return { status: 'held' };
  const older = await findLastOlder(transaction, organizationId, settings.audit_retention_days);
  const head = older === 0 ? null : await lockHead(transaction, organizationId);
  if (head === null) return { status: 'nothing' };
  // The last record is never pruned.
  const through = Math.min(older, head.seq - 1, head.prunedThrough + batchMax);
  const last = await findRecord(transaction, organizationId, through);
  if (last === null || through <= head.prunedThrough) return { status: 'nothing' };
  const hashOf = await readTree(transaction, organizationId, head.seq, [through - 1]);
  const root = foldRoot(perfectSubtrees(0, through).map(hashOf));
  const count = through - head.prunedThrough;
  const anchorSeq = await appendAudit(transaction, organizationId, {
    actor: { type: 'system', id: 'audit-retention' },
    action: 'audit.anchor',
    target: { type: 'organization', id: String(organizationId) },
    result: 'ok',
    details: {
      pruned_through: through,
      count,
      last_link: last.link.toString('hex'),
      root: root.toString('base64'),
    },
  });
  const gone = await pruneRecords(transaction, organizationId, { anchorSeq, through });
  if (gone !== count) throw new Error(`an anchor of ${count} records met ${gone}`);
  return { status: 'pruned', count };
}
