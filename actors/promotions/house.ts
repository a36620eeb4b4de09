// What the house has: judged pages are paid from it, and without credits all of them wait for an
// administrator. Low credits are a metric and a line in the log.
import { findHouse } from '../../db/accounts/house.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { findWallet } from '../../db/journal.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import type { BillingRecord } from '../catalog/document.ts';
import type { PromotionLimits } from './limits.ts';

interface HouseDeps {
  sql: Sql;
  billing(): BillingRecord;
  limits: PromotionLimits;
  registry: MetricsRegistry;
  log: Pick<Logger, 'warn'>;
}

/** A look at the house's wallet; a house that pays for nothing is not told to be short. */
export function createHouseLook({ sql, billing, limits, registry, log }: HouseDeps) {
  let availableMicros = 0n;
  registry.watch([
    [
      'tollgate_house_available_microcredits',
      'What the house has for model calls of its own.',
      () => Number(availableMicros),
    ],
  ]);
  return async (): Promise<void> => {
    const { walletId } = await findHouse(sql);
    availableMicros = (await findWallet(sql, walletId))?.availableMicros ?? 0n;
    if (billing().rewards === null || availableMicros >= limits.houseLowMicros) return;
    const told = { wallet: walletId, available_microcredits: availableMicros.toString() };
    log.warn(told, 'the house is short of credits: evidence waits for administrators');
  };
}
