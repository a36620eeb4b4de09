// The round of debts: what reversals could not take is taken from what purchases have free by now,
// such as what a hold gave back. Each page is bounded; the next round finds what is left.
import { randomUUID } from 'node:crypto';
import type { Sql } from '../../db/driver/sql.ts';
import { listWalletsInDebt } from '../../db/wallets.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import type { DirectWallet } from './direct.ts';
import { ledgerLimits } from './limits.ts';

const PAGE_LENGTH = 500;
const PAGES_MAX = 20;

/** One round; how many wallets paid. Rejects when the database cannot be read. */
export async function collectDebts(sql: Sql, perform: DirectWallet): Promise<number> {
  let paid = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const wallets = await listWalletsInDebt(sql, PAGE_LENGTH);
    const replies = await Promise.all(
      wallets.map((id) => perform(id, 'collect', { operationId: `${id}.collect.${randomUUID()}` })),
    );
    const isPaid = (reply: (typeof replies)[number]) =>
      reply.status === 'collected' && reply.collectedMicros > 0n;
    paid += replies.filter(isPaid).length;
    // Who did not pay would come first again.
    if (wallets.length < PAGE_LENGTH || !replies.every(isPaid)) break;
  }
  return paid;
}

export function scheduleDebts(
  queue: Pick<MaintenanceQueue, 'schedule'>,
  { sql, perform, log }: { sql: Sql; perform: DirectWallet; log: Logger },
): void {
  queue.schedule('debts', ledgerLimits.debtsMs, async () => {
    log.debug({ paid: await collectDebts(sql, perform) }, 'collected debts');
  });
}
