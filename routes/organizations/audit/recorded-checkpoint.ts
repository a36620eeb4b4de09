// A checkpoint that somebody asked for. The record of the asking is in it, and only so many of an
// action are taken in an hour.
import { makeCheckpoint } from '../../../actors/audit/checkpoint.ts';
import { auditSealers } from '../../../actors/audit/keys.ts';
import { auditLimits } from '../../../actors/audit/limits.ts';
import { type Transaction, withDeadline } from '../../../db/driver/sql.ts';
import { appendAudit } from '../../../db/organization-audit/append.ts';
import type { StoredCheckpoint } from '../../../db/organization-audit/checkpoints.ts';
import { type AuditHead, countLately, lockHead } from '../../../db/organization-audit/head.ts';
import type { NewRecord } from '../../../db/organization-audit/record.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';

interface Asking {
  organizationId: number;
  record: NewRecord;
  perHour: number;
  /** Looks at the audit before anything is written. @throws Problem */
  check?: (transaction: Transaction, head: AuditHead) => Promise<void>;
}

/** @throws Problem rate_limited, and what `check` throws */
export async function recordedCheckpoint(
  { sql, sealer, config }: Pick<Services, 'sql' | 'sealer' | 'config'>,
  { organizationId, record, perHour, check }: Asking,
): Promise<StoredCheckpoint> {
  const sealers = auditSealers(sealer, config.previousSecret);
  const made = sql.begin(async (transaction) => {
    // Under the lock, so that two at once count each other.
    const head = await lockHead(transaction, organizationId);
    if (head === null) throw new Problem('not_found', { param: 'id' });
    const { hourMs } = auditLimits;
    const lately = await countLately(transaction, organizationId, record.action, hourMs);
    if (lately >= perHour) {
      throw new Problem('rate_limited', {
        message: `At most ${perHour} an hour of this organization.`,
        headers: { 'retry-after': String(hourMs / 1_000 / perHour) },
      });
    }
    await check?.(transaction, head);
    await appendAudit(transaction, organizationId, record);
    const checkpoint = await makeCheckpoint(transaction, organizationId, sealers);
    if (checkpoint === null) throw new Error('an audit with a record has no checkpoint');
    return checkpoint;
  });
  return withDeadline(made);
}
