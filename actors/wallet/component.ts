// The wallets of a shard: their actors, and the connections that only the ledger uses.
import { closePool, openPool } from '../../db/driver/sql.ts';
import type { ActorRef, ActorSystem } from '../../runtime/actor/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import { type Component, defineComponent } from '../../runtime/shard/component.ts';
import type { Limits } from '../limits.ts';
import type { Holders } from './holder.ts';
import { walletLimits } from './limits.ts';
import { createWalletMetrics } from './metrics.ts';
import type { WalletProtocol } from './protocol.ts';
import { createWalletKind } from './wallet.ts';

interface Given {
  databaseUrl: string;
  limits: Limits;
  log: Logger;
  registry: MetricsRegistry;
  holders: Holders;
  system(): ActorSystem;
  /** A wallet has less than its account wants. */
  low(wallet: { accountId: string; walletId: string }): void;
}

/** Builds them, with the way to a wallet that every other domain takes. */
export function createWalletComponent({ databaseUrl, limits, log, registry, ...given }: Given): {
  component: Component;
  wallet(walletId: string): ActorRef<WalletProtocol>;
} {
  const { statementTimeoutMs } = limits.ledger;
  const open = (connectionsMax: number) =>
    openPool({ url: databaseUrl, purpose: 'ledger', connectionsMax, statementTimeoutMs });
  // A wallet's writes are done in the order in which they were decided: by one connection.
  const writer = open(1);
  const readers = limits.database.ledgerConnections - 1;
  const sql = readers === 0 ? writer : open(readers);
  const kind = createWalletKind({
    sql,
    writer,
    clock: Date.now,
    limits: walletLimits,
    log,
    metrics: createWalletMetrics(registry),
    holders: given.holders,
    low: given.low,
  });
  return {
    component: defineComponent({
      name: 'wallet',
      kinds: [kind],
      async close(withinMs) {
        await Promise.all([writer, sql].map((pool) => closePool(pool, withinMs)));
      },
    }),
    wallet: (walletId) => given.system().ref(kind, walletId),
  };
}
