// Payments on a real database with a provider in memory: what the main thread has, without a shard.
import type { KnownProvider } from '../../../actors/payments/deps.ts';
import { paymentLimits } from '../../../actors/payments/limits.ts';
import { soldIn } from '../../../actors/payments/packages.ts';
import { createSettler, type Settler } from '../../../actors/payments/settling.ts';
import type { TopUpDeps } from '../../../actors/payments/top-up.ts';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import { createAccount } from '../../../db/accounts.ts';
import { auditLedger } from '../../../db/audit.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import {
  findInstallation,
  findPurchase,
  insertPurchase,
  type NewPurchase,
  type Purchase,
} from '../../../db/purchases.ts';
import { createWallet } from '../../../db/wallets.ts';
import { newId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { modelAccount, PaymentModel } from '../../harness/payment-model.ts';

export const starter = { slug: 'starter', name: 'Starter', credits: 1_000, price_usd: '10.00' };

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export interface PaymentBed {
  database: TestDatabase;
  sql: Sql;
  model: PaymentModel;
  deps: TopUpDeps;
  settler: Settler;
  /** How many notices an account was written. */
  notices(accountId: string): Promise<number>;
  /** An account with a wallet. */
  account(): Promise<{ accountId: string; walletId: string }>;
  /** The row of a purchase as the route makes it. */
  purchase(
    owner: { accountId: string; walletId: string },
    change?: Partial<NewPurchase>,
  ): Promise<Purchase>;
  read(id: string): Promise<Purchase>;
  balance(walletId: string): Promise<{ available: bigint; held: bigint }>;
  /** Rules of the ledger that are broken. */
  broken(): Promise<string[]>;
}

export async function openPaymentBed(clock: () => number = Date.now): Promise<PaymentBed> {
  const database = await openTestDatabase();
  const sql = database.pool('general', 8);
  const model = new PaymentModel();
  const deps = depsOf(sql, model, clock);
  const { wallet } = deps;
  return {
    database,
    sql,
    model,
    deps,
    settler: createSettler(deps),
    async notices(accountId) {
      const rows = await sql`SELECT 1 FROM app_notice_accounts WHERE account_id = ${accountId}`;
      return rows.length;
    },
    async account() {
      const accountId = newId('acc', 0);
      const walletId = newId('wal', 0);
      await createAccount(sql, { id: accountId, role: 'user' });
      await createWallet(sql, { id: walletId, accountId, type: 'personal' });
      return { accountId, walletId };
    },
    async purchase(owner, change = {}) {
      const id = newId('pur', 0);
      await insertPurchase(sql, {
        id,
        ...owner,
        packageId: starter.slug,
        kind: 'checkout',
        provider: 'stripe',
        providerKind: 'stripe',
        returnPath: '/account',
        savesPaymentMethod: false,
        key: null,
        creditsMicros: 1_000_000_000n,
        priceCents: 1_000n,
        currency: 'usd',
        status: 'created',
        expiresAt: new Date(clock() + paymentLimits.openFor),
        nextLookAt: null,
        ...change,
      });
      return required(sql, change.id ?? id);
    },
    read: (id) => required(sql, id),
    async balance(walletId) {
      const reply = await wallet(walletId, 'balance', {});
      if (reply.status !== 'ok') throw new Error(reply.status);
      return { available: reply.availableMicros, held: reply.heldMicros };
    },
    async broken() {
      const findings = await auditLedger(sql);
      return findings.filter((each) => each.broken > 0n).map(({ rule }) => rule);
    },
  };
}

async function required(sql: Sql, id: string): Promise<Purchase> {
  const found = await findPurchase(sql, id);
  if (found === null) throw new Error(`no purchase ${id}`);
  return found;
}

/** What payments have on the main thread, with the provider in memory. */
function depsOf(sql: Sql, model: PaymentModel, clock: () => number): TopUpDeps {
  const provider: KnownProvider = {
    name: 'stripe',
    adapter: model.adapter,
    account: modelAccount,
    enabled: true,
    currencies: ['usd'],
  };
  const wallet = createDirectWallet({ sql, clock: Date.now, limits: walletLimits, log: silent });
  const nothing = () => undefined;
  return {
    sql,
    wallet,
    provider: (name) => (name === provider.name ? provider : null),
    providers: () => [provider],
    installation: () => findInstallation(sql),
    packageName: (slug) => slug,
    mail: { isAvailable: false, write: async () => 'mail', send: nothing },
    webUrl: 'http://127.0.0.1:1',
    node: 0,
    limits: paymentLimits,
    metrics: {
      moved: nothing,
      credited: nothing,
      failed: nothing,
      anomaly: nothing,
      event: nothing,
      toppedUp: nothing,
    },
    log: silent as never,
    clock,
    sold: (slug, currencies) => (slug === starter.slug ? soldIn(starter, currencies) : null),
  };
}
