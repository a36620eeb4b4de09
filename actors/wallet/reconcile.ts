// Ends the holds of this process whose owner runs nowhere any more: its shard or its actor
// crashed, or the hold became durable after its owner had given it up. Safe to repeat.
import type { Sql } from '../../db/driver/sql.ts';
import { type LeftHold, listHoldsOfOwners } from '../../db/holds.ts';
import { firstIdAt, nodeOfId } from '../../runtime/ids.ts';
import { type Ends, endHold, rowsOf } from './recovery.ts';

export interface ReconcileOptions extends Ends {
  instanceId: string;
  /** Only owners that are at least this old are looked at. */
  ageMs: number;
  /** Which of these owners do not run on the node; null: no answer. */
  lost(node: number, ownerIds: string[]): Promise<string[] | null>;
}

const PAGE_LENGTH = 500;
const PAGES_MAX = 64;

/**
 * One pass; returns how many holds it ended. Holds are listed first and owners asked afterwards: an
 * owner runs before its hold is asked for, so what is not running then is over for good.
 * Rejects when the database cannot be read.
 */
export async function reconcile(sql: Sql, options: ReconcileOptions): Promise<number> {
  const { instanceId, ageMs } = options;
  const untilMs = Date.now() - ageMs;
  const rows = rowsOf(options);
  const until = new Map(
    rows.map(({ kind, idPrefix }) => [kind, firstIdAt(idPrefix, untilMs)] as const),
  );
  let after: LeftHold | null = null;
  let ended = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const held: LeftHold[] = await listHoldsOfOwners(
      sql,
      rows,
      instanceId,
      until,
      after,
      PAGE_LENGTH,
    );
    ended += await endLost(held, options);
    after = held.at(-1) ?? null;
    if (held.length < PAGE_LENGTH) break;
  }
  return ended;
}

async function endLost(held: LeftHold[], options: ReconcileOptions): Promise<number> {
  const idsByNode = new Map<number, string[]>();
  for (const { ownerId } of held) {
    if (ownerId === null) continue;
    const node = nodeOfId(ownerId);
    idsByNode.set(node, [...(idsByNode.get(node) ?? []), ownerId]);
  }
  const answers = [...idsByNode].map(async ([node, ids]) => (await options.lost(node, ids)) ?? []);
  const lost = new Set((await Promise.all(answers)).flat());
  const left = held.filter(({ ownerId }) => ownerId !== null && lost.has(ownerId));
  const replies = await Promise.all(left.map((hold) => endHold(options, hold)));
  return replies.filter(({ status }) => status === 'released' || status === 'settled').length;
}
