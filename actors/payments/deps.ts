// What payments need of the main thread.
import type { Sql } from '../../db/driver/sql.ts';
import type { PaymentAccount, PaymentAdapter } from '../../media/payments/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MailServices } from '../mail/services.ts';
import type { DirectWallet } from '../wallet/direct.ts';
import type { PaymentLimits } from './limits.ts';
import type { PaymentMetrics } from './metrics.ts';

/** A provider as the catalog has it at this moment. */
export interface KnownProvider {
  name: string;
  adapter: PaymentAdapter;
  account: PaymentAccount;
  enabled: boolean;
  currencies: readonly string[];
}

export interface PaymentDeps {
  sql: Sql;
  wallet: DirectWallet;
  /** Null: the catalog has none of this name. A disabled one still answers for what it sold. */
  provider(name: string): KnownProvider | null;
  providers(): readonly KnownProvider[];
  /** Names this installation at providers. */
  installation(): Promise<string>;
  packageName(slug: string): string;
  mail: MailServices;
  webUrl: string;
  node: number;
  limits: PaymentLimits;
  metrics: PaymentMetrics;
  log: Logger;
  clock(): number;
}
