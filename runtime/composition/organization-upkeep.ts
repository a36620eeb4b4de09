// What of organizations is looked after now and then, by whichever process has the round.
import type { MailServices } from '../../actors/mail/services.ts';
import { organizationChangeId } from '../../actors/organization/acting.ts';
import { domainLimits } from '../../actors/organization/domain-limits.ts';
import { checkDomains } from '../../actors/organization/domain-round.ts';
import { sweepInvitations } from '../../actors/organization/expiry.ts';
import { organizationLimits } from '../../actors/organization/limits.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { tellChange } from '../../routes/credentials.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import type { Bus } from '../work/bus.ts';
import type { MaintenanceQueue } from '../work/queue.ts';

interface OrganizationUpkeep {
  sql: Sql;
  bus: Bus;
  config: Pick<Config, 'dnsServers'>;
  mail: MailServices;
  log: Logger;
}

export function scheduleOrganizations(
  queue: Pick<MaintenanceQueue, 'schedule'>,
  { sql, bus, config, mail, log }: OrganizationUpkeep,
): void {
  const changed = (id: number) =>
    tellChange(bus, [organizationChangeId(id)], { isWithdrawn: false });
  queue.schedule('domain-check', domainLimits.roundMs, async (signal) => {
    const deps = { sql, mail, servers: config.dnsServers, log, changed };
    log.debug({ changed: await checkDomains(deps, signal) }, 'checked domains');
  });
  queue.schedule('invitation-expiry', organizationLimits.expiryMs, async (signal) => {
    log.debug({ expired: await sweepInvitations(sql, signal) }, 'swept invitations');
  });
}
