// The rounds of audits: checkpoints that are due, and what is old. An organization that fails is
// logged, and the others go on.
import type { Sql } from '../../db/driver/sql.ts';
import { listDueCheckpoints } from '../../db/organization-audit/checkpoints.ts';
import { listAudits } from '../../db/organization-audit/prune.ts';
import type { Config } from '../../runtime/config.ts';
import type { Logger } from '../../runtime/log.ts';
import { createSealer } from '../../runtime/seal.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import { makeCheckpoint } from './checkpoint.ts';
import { type AuditSealers, auditSealers } from './keys.ts';
import { type AuditLimits, auditLimits } from './limits.ts';
import { pruneAudit } from './prune.ts';

export interface AuditRounds {
  sql: Sql;
  sealers: AuditSealers;
  log: Pick<Logger, 'debug' | 'error'>;
  limits?: AuditLimits;
}

type Round = 'audit-checkpoint' | 'audit-retention';

/** Does the work of a round for each organization of a list that is read page by page. */
async function forEach(
  { log, limits = auditLimits }: AuditRounds,
  round: Round,
  signal: AbortSignal,
  list: (after: number, limit: number) => Promise<number[]>,
  work: (organizationId: number) => Promise<void>,
): Promise<void> {
  for (let after = 0; !signal.aborted; ) {
    const ids = await list(after, limits.organizationsPage);
    for (const id of ids) {
      if (signal.aborted) return;
      await work(id).catch((error: unknown) => {
        log.error({ err: error, organization: id, round }, 'a round of an audit failed');
      });
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < limits.organizationsPage) return;
    after = last;
  }
}

/** Returns how many checkpoints were made. */
export async function checkpointAudits(rounds: AuditRounds, signal: AbortSignal): Promise<number> {
  const { sql, sealers, limits = auditLimits } = rounds;
  const due = { recordsMin: limits.checkpointRecords, ageMs: limits.checkpointAgeMs };
  const list = (after: number, limit: number) => listDueCheckpoints(sql, due, after, limit);
  let made = 0;
  await forEach(rounds, 'audit-checkpoint', signal, list, async (id) => {
    await sql.begin((transaction) => makeCheckpoint(transaction, id, sealers));
    made += 1;
  });
  return made;
}

/** Returns how many records were pruned. */
export async function pruneAudits(rounds: AuditRounds, signal: AbortSignal): Promise<number> {
  const { sql, limits = auditLimits } = rounds;
  const list = (after: number, limit: number) => listAudits(sql, after, limit);
  let total = 0;
  await forEach(rounds, 'audit-retention', signal, list, async (id) => {
    let isFull = true;
    while (isFull && !signal.aborted) {
      const pruned = await pruneAudit(sql, id, limits.pruneBatchMax);
      const count = pruned.status === 'pruned' ? pruned.count : 0;
      total += count;
      isFull = count === limits.pruneBatchMax;
    }
  });
  return total;
}

interface AuditUpkeep extends Omit<AuditRounds, 'sealers'> {
  masterKey: string;
  config: Pick<Config, 'previousSecret'>;
}

export function scheduleAudits(
  queue: Pick<MaintenanceQueue, 'schedule'>,
  { masterKey, config, ...given }: AuditUpkeep,
): void {
  const sealers = auditSealers(createSealer(masterKey), config.previousSecret);
  const rounds: AuditRounds = { ...given, sealers };
  const { log, limits = auditLimits } = rounds;
  queue.schedule('audit-checkpoint', limits.checkpointRoundMs, async (signal) => {
    log.debug({ made: await checkpointAudits(rounds, signal) }, 'made checkpoints of audits');
  });
  queue.schedule('audit-retention', limits.retentionRoundMs, async (signal) => {
    log.debug({ pruned: await pruneAudits(rounds, signal) }, 'pruned audits');
  });
}
