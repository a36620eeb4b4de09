// What of identity is looked after now and then, by whichever process has the round.
import type { IdentityLimits } from '../../actors/identity/limits.ts';
import { sweepIdentity } from '../../actors/identity/sweep.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { tellChange } from '../../routes/credentials.ts';
import type { Logger } from '../log.ts';
import type { Bus } from '../work/bus.ts';
import type { MaintenanceQueue } from '../work/queue.ts';

export function scheduleIdentity(
  queue: Pick<MaintenanceQueue, 'schedule'>,
  { sql, bus, limits, log }: { sql: Sql; bus: Bus; limits: IdentityLimits; log: Logger },
): void {
  queue.schedule('identity', limits.sweepMs, async () => {
    const swept = await sweepIdentity(sql, limits, 0);
    const { removedAccounts } = swept;
    if (removedAccounts.length > 0) await tellChange(bus, removedAccounts, { isWithdrawn: true });
    log.debug({ ...swept, removedAccounts: removedAccounts.length }, 'swept identity');
  });
}
