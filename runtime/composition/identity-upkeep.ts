// What of identity, and of apps that act for people, is looked after now and then, by whichever
// process has the round.
import type { IdentityLimits } from '../../actors/identity/limits.ts';
import { sweepIdentity } from '../../actors/identity/sweep.ts';
import type { OAuthLimits } from '../../actors/oauth/limits.ts';
import { sweepOAuth } from '../../actors/oauth/sweep.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { tellChange } from '../../routes/credentials.ts';
import type { Logger } from '../log.ts';
import type { Bus } from '../work/bus.ts';
import type { MaintenanceQueue } from '../work/queue.ts';

interface IdentityUpkeep {
  sql: Sql;
  bus: Bus;
  limits: { identity: IdentityLimits; oauth: OAuthLimits };
  log: Logger;
}

export function scheduleIdentity(
  queue: Pick<MaintenanceQueue, 'schedule'>,
  { sql, bus, limits, log }: IdentityUpkeep,
): void {
  const { identity, oauth } = limits;
  queue.schedule('oauth', oauth.sweepMs, async () => {
    log.debug({ ...(await sweepOAuth(sql, oauth)) }, 'swept the OAuth server');
  });
  queue.schedule('identity', identity.sweepMs, async () => {
    const swept = await sweepIdentity(sql, identity, 0);
    const { removedAccounts } = swept;
    if (removedAccounts.length > 0) await tellChange(bus, removedAccounts, { isWithdrawn: true });
    log.debug({ ...swept, removedAccounts: removedAccounts.length }, 'swept identity');
  });
}
