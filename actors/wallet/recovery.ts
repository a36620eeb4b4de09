// Ends what dead processes have left: their holds are released and their generations failed, what
// voice sessions had used is settled, through the same ledger as everything else. Safe to repeat,
// and to be done by several processes at once.
import type { Sql } from '../../db/driver/sql.ts';
import { type LeftHold, listHoldsOfInstances } from '../../db/holds.ts';
import { endInstance, listDeadInstances, listEndedInstancesWithHolds } from '../../db/instances.ts';
import type { HolderRows } from '../../db/ledger/holder.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import type { Logger } from '../../runtime/log.ts';
import type { DirectWallet } from './direct.ts';
import type { Holders } from './holder.ts';
import { holders as allHolders } from './holders.ts';
import type {
  BalanceReply,
  ReleaseReply,
  ReleaseRequest,
  SettleReply,
  SettleRequest,
} from './protocol.ts';

/** Ends a hold: through the wallet's actor, or directly where none may run. */
export type Release = (walletId: string, request: ReleaseRequest) => Promise<ReleaseReply>;
export type Settle = (walletId: string, request: SettleRequest) => Promise<SettleReply>;

/** How holds are ended. */
export interface Ends {
  release: Release;
  settle: Settle;
  /** Whatever may hold funds; absent: what the product has. */
  holders?: Holders;
}

/**
 * Ends holds where no actor may run. What a bug does to one wallet is told and tried again with the
 * next round: it must not keep the others' holds from being ended, and a process from starting.
 */
export function endsThrough(
  perform: DirectWallet,
  log: Pick<Logger, 'error'>,
): Ends & { touch(walletId: string): Promise<BalanceReply> } {
  const contained = <T>(walletId: string, reply: Promise<T>) =>
    reply.catch((error: unknown) => {
      log.error({ err: error, wallet: walletId }, 'a wallet cannot be cleared up');
      return { status: 'unavailable' } as const;
    });
  return {
    release: (walletId, request) => contained(walletId, perform(walletId, 'release', request)),
    settle: (walletId, request) => contained(walletId, perform(walletId, 'settle', request)),
    touch: (walletId) => contained(walletId, perform(walletId, 'balance', {})),
  };
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

/** Clears up after dead instances. Rejects when the database cannot be read. */
export async function recoverDead(sql: Sql, options: RecoveryOptions): Promise<Recovered> {
  const { instanceId, others } = options;
  const listed =
    others === 'none' ? [] : await listDeadInstances(sql, instanceId, others === 'all');
  const { leaseMs } = fixedLimits.instance;
  const late = await listEndedInstancesWithHolds(sql, rowsOf(options), instanceId, leaseMs);
  const given = (options.previousInstanceIds ?? []).filter((id) => id !== instanceId);
  const dead = [...new Set([...listed, ...late, ...given])];
  if (dead.length === 0) return { instances: 0, holds: 0, complete: true };
  const { holds, complete } = await endHolds(sql, dead, options);
  if (complete) for (const id of dead) await endInstance(sql, id);
  return { instances: dead.length, holds, complete };
}

/** Each hold is tried once: one that stays must not be tried for ever. */
async function endHolds(
  sql: Sql,
  instanceIds: readonly string[],
  ends: Ends,
): Promise<Pick<Recovered, 'holds' | 'complete'>> {
  let holds = 0;
  let complete = true;
  let after: LeftHold | null = null;
  for (;;) {
    const left: LeftHold[] = await listHoldsOfInstances(
      sql,
      rowsOf(ends),
      instanceIds,
      after,
      PAGE_LENGTH,
    );
    const replies = await Promise.all(left.map((hold) => endHold(ends, hold)));
    const ended = replies.filter((reply) => reply.status !== 'unavailable').length;
    holds += ended;
    complete &&= ended === left.length;
    if (left.length < PAGE_LENGTH) return { holds, complete };
    after = left.at(-1) ?? null;
  }
}

/** How the holders of these ends stand in the database. */
export function rowsOf({ holders = allHolders }: Ends): HolderRows[] {
  return holders.all.map(({ rows }) => rows);
}

/** Ends a hold without its process, as its holder says. */
export function endHold(ends: Ends, hold: LeftHold): Promise<ReleaseReply | SettleReply> {
  const { holders = allHolders } = ends;
  const end = holders.of(hold.ownerKind).endAlone(hold);
  if (end.message === 'settle') return ends.settle(hold.walletId, end.request);
  return ends.release(hold.walletId, end.request);
}
