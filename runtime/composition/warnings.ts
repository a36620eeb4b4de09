// What an operator is told at the start: settings with which the process serves, but not as it
// should.
import type { CatalogSurface } from '../../actors/catalog/surface.ts';
import { mailWayOf } from '../../actors/mail/way.ts';
import { hasAdministrator } from '../../db/accounts.ts';
import { patiently } from '../../db/driver/patience.ts';
import type { DatabaseFacts } from '../../db/driver/reach.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { type Config, localOrigin } from '../config.ts';
import { hasDevelopmentAccess } from '../development.ts';
import type { Logger } from '../log.ts';

interface WarningOptions {
  config: Config;
  log: Logger;
}

/** Too few connections serve until all are busy, or nobody: main thread and queue come first. */
export function warnOfDatabase(
  { connectionsMax, offSettings }: DatabaseFacts,
  neededConnections: number,
  log: Logger,
): void {
  if (connectionsMax < neededConnections) {
    const counts = `${connectionsMax} connections, a busy process has ${neededConnections}`;
    log.warn(`the database allows ${counts}: allow more, or lower TOLLGATE_SHARDS`);
  }
  if (offSettings !== null) {
    log.warn(`a crash of the database's server may lose charges: ${offSettings} is off there`);
  }
}

/** Behind a proxy clients are told our own address, unless the public one was given. */
export function warnOfProxies({ config, log }: WarningOptions, port: number): void {
  if (config.trustedProxies.length === 0 || config.baseUrl !== localOrigin(config, port)) return;
  const consequence = `clients are told ${config.baseUrl}`;
  log.warn(`TOLLGATE_TRUSTED_PROXIES is set without TOLLGATE_BASE_URL: ${consequence}`);
}

/** In production: that nobody can administer, or that more can than should. */
export async function warnOfAccess({ config, log }: WarningOptions, sql: Sql): Promise<void> {
  if (!(await patiently(() => hasAdministrator(sql), log))) {
    process.stdout.write('nobody can administer yet: npm run admin:create\n');
  }
  if (await patiently(() => hasDevelopmentAccess({ config, sql }), log)) {
    const advice = 'give production a TOLLGATE_DATA or DATABASE_URL of its own';
    log.warn(`the key and the sessions of dev.json open this database as well: ${advice}`);
  }
}

/** They go on serving models and voices, as before there were prices of queries. */
export function warnOfSurfaces(
  surfaces: readonly CatalogSurface[],
  log: Pick<Logger, 'warn'>,
): void {
  for (const { name, kind, targets, priceMicros } of surfaces) {
    if (kind === null || targets.length === 0 || priceMicros !== null) continue;
    log.warn(`the surface ${name} is not offered for queries: it has no price`);
  }
}

export function warnOfMail({ config, log }: WarningOptions): void {
  if (mailWayOf(config) !== 'none') return;
  log.warn('nobody can sign in by a code: TOLLGATE_SMTP_URL names no server that mail leaves by');
}
