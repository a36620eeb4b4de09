// Ends what dead processes have left: their holds are released and their generations failed, what
// voice sessions had used is settled, through the same ledger as everything else. Safe to repeat,
// and to be done by several processes at once.
import {
  endInstance,
  type LeftHold,
  listDeadInstances,
  listEndedInstancesWithHolds,
  listHoldsOfInstances,
} from '../../db/instances.ts';
import type { Sql } from '../../db/sql.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { plainProblem } from '../subscriber/problem.ts';
import type { ReleaseReply, ReleaseRequest, SettleReply, SettleRequest } from './protocol.ts';

/** Ends a hold: through the wallet's actor, or directly where none may run. */
export type Release = (walletId: string, request: ReleaseRequest) => Promise<ReleaseReply>;
export type Settle = (walletId: string, request: SettleRequest) => Promise<SettleReply>;

/** How holds are ended. */
export interface Ends {
  release: Release;
  settle: Settle;
}

export interface RecoveryOptions extends Ends {
  instanceId: string;
  /**
   * Who is dead of those that nobody saw die: all but this one where no other process reaches the
   * database, those whose lease has lapsed, or none while that says nothing.
   */
  others: 'all' | 'lapsed' | 'none';
  /** Known to be dead, whatever their lease says. */
  previousInstanceIds?: readonly string[];
}

export interface Recovered {
  instances: number;
  /** Holds that were ended. */
  holds: number;
  /** False: the database did not take everything; repeat. */
  complete: boolean;
}

const PAGE_LENGTH = 500;
const recoveredMessage = 'The service stopped before the answer was complete. Nothing is charged.';

/** Clears up after dead instances. Rejects when the database cannot be read. */
export async function recoverDead(sql: Sql, options: RecoveryOptions): Promise<Recovered> {
  const { instanceId, others } = options;
  const listed =
    others === 'none' ? [] : await listDeadInstances(sql, instanceId, others === 'all');
  const late = await listEndedInstancesWithHolds(sql, instanceId, fixedLimits.instance.leaseMs);
  const given = (options.previousInstanceIds ?? []).filter((id) => id !== instanceId);
  const dead = [...new Set([...listed, ...late, ...given])];
  let holds = 0;
  if (dead.length === 0) return { instances: 0, holds, complete: true };
  for (;;) {
    const left = await listHoldsOfInstances(sql, dead, PAGE_LENGTH);
    if (left.length === 0) break;
    const replies = await Promise.all(left.map((hold) => endHold(options, hold)));
    holds += replies.filter((reply) => reply.status !== 'unavailable').length;
    if (replies.some((reply) => reply.status === 'unavailable')) {
      return { instances: dead.length, holds, complete: false };
    }
  }
  for (const id of dead) await endInstance(sql, id);
  return { instances: dead.length, holds, complete: true };
}

/** Ends a hold without its process: what its voice session had used is charged, no more. */
export function endHold(ends: Ends, hold: LeftHold): Promise<ReleaseReply | SettleReply> {
  const { walletId, holdId, ownerKind, ownerId } = hold;
  if (ownerKind !== 'voice_session') return ends.release(walletId, generationEnd(hold));
  // One that was taken for dead and lives may have written more since: that is not charged.
  const { usage } = hold;
  const session = ownerId === null ? null : { id: ownerId, reason: 'recovered', usage };
  if (session === null || hold.dueMicros === 0n) {
    return ends.release(walletId, {
      holdId,
      reason: 'recovered',
      finish: null,
      ...(session === null ? {} : { session: { ...session, source: 'none' } }),
    });
  }
  return ends.settle(walletId, {
    holdId,
    chargeMicros: hold.dueMicros,
    providerCostMicros: hold.dueProviderMicros,
    finish: null,
    session: { ...session, source: 'reported' },
  });
}

/** How a generation without its process ends; the problem says no more than a client may know. */
function generationEnd({ holdId, ownerId }: LeftHold): ReleaseRequest {
  const finish =
    ownerId === null
      ? null
      : {
          id: ownerId,
          status: 'failed' as const,
          answerJson: null,
          usageJson: null,
          problemJson: JSON.stringify(plainProblem('internal', recoveredMessage)),
        };
  return { holdId, reason: 'recovered', finish };
}
