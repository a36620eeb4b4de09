// Payments as the main thread opens them: the providers of its catalog with their adapters.
import type { Sql } from '../../db/driver/sql.ts';
import type { Config } from '../../runtime/config.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import { paymentProvider, paymentProviders } from '../catalog/payments/provider.ts';
import type { CatalogSnapshot } from '../catalog/snapshot.ts';
import type { MailServices } from '../mail/services.ts';
import type { DirectWallet } from '../wallet/direct.ts';
import type { PaymentLimits } from './limits.ts';
import { createPaymentMetrics } from './metrics.ts';
import { soldIn } from './packages.ts';
import { createPaymentsWorking, type PaymentsWorking } from './working.ts';

interface OpenOptions {
  sql: Sql;
  wallet: DirectWallet;
  /** Null until the catalog is read: then every provider is unknown. */
  catalog(): CatalogSnapshot | null;
  mail: MailServices;
  config: Pick<Config, 'webUrl'>;
  limits: PaymentLimits;
  registry: MetricsRegistry;
  log: Logger;
}

export function openPayments(options: OpenOptions): PaymentsWorking {
  const { sql, wallet, catalog, mail, config, limits, registry, log } = options;
  const packageOf = (slug: string) => catalog()?.packages.find((each) => each.slug === slug);
  return createPaymentsWorking({
    sql,
    wallet,
    provider(name) {
      const snapshot = catalog();
      return snapshot === null ? null : paymentProvider({ snapshot }, name);
    },
    providers() {
      const snapshot = catalog();
      return snapshot === null ? [] : paymentProviders({ snapshot });
    },
    packageName: (slug) => packageOf(slug)?.name ?? slug,
    sold(slug, currencies) {
      const found = packageOf(slug);
      return found === undefined ? null : soldIn(found, currencies);
    },
    mail,
    webUrl: config.webUrl,
    node: 0,
    limits,
    metrics: createPaymentMetrics(registry),
    log,
    clock: Date.now,
  });
}
