// The rewards of a shard: their actors and leases. Their generations are the generation
// component's, on the same shard.
import { findHouse, type House } from '../../db/accounts/house.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { leaveRewards, renewRewards } from '../../db/rewards/moves.ts';
import type { ReadPage } from '../../media/tasks/read-page.ts';
import type { ActorRef, ActorSystem } from '../../runtime/actor/contract.ts';
import type { Logger } from '../../runtime/log.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import type { Outbound } from '../../runtime/outbound/contract.ts';
import { defineComponent } from '../../runtime/shard/component.ts';
import { TransientSet } from '../../runtime/transient.ts';
import { createLeases } from '../../runtime/work/leases.ts';
import type { Catalog } from '../catalog/current.ts';
import { cancelGeneration } from '../generation/open.ts';
import type { GenerationServices } from '../generation/start.ts';
import type { Limits } from '../limits.ts';
import type { TasksProtocol } from '../tasks/protocol.ts';
import type { WalletProtocol } from '../wallet/protocol.ts';
import { rewardRoute } from './asking.ts';
import { createRewardDeskKind, rewardDeskId } from './desk.ts';
import { createRewardMetrics } from './metrics.ts';
import type { RewardDeps, Run } from './run.ts';
import type { RewardServices } from './services.ts';
import { createRewardKind } from './submission.ts';

interface RewardGiven {
  limits: Limits;
  log: Logger;
  registry: MetricsRegistry;
  sql: Sql;
  system(): ActorSystem;
  tasks(): ActorRef<TasksProtocol>;
  outbound: Outbound;
  catalog(): Catalog;
  generations(system: ActorSystem): GenerationServices;
  wallet(walletId: string): ActorRef<WalletProtocol>;
}

/** Builds the rewards of one shard. */
export function createRewardComponent(given: RewardGiven) {
  const { sql, limits, log } = given;
  const { reward } = limits;
  const leases = createLeases({
    what: 'leases of submissions',
    renewMs: reward.renewMs,
    rows: {
      renew: (held) => renewRewards(sql, held, reward.leaseMs),
      leave: (held) => leaveRewards(sql, held),
    },
    log,
  });
  const runs = new TransientSet<Run>();
  const deskKind = createRewardDeskKind(null);
  const desk = () => given.system().ref(deskKind, rewardDeskId);
  const generations = () => given.generations(given.system());
  let house: Promise<House> | null = null;
  const kind = createRewardKind({
    sql,
    outbound: given.outbound,
    readPage: readPageOn(given),
    settings: () => given.catalog().snapshot,
    // It is the same for ever.
    house() {
      house ??= findHouse(sql).catch((error: unknown) => {
        house = null;
        throw error;
      });
      return house;
    },
    generations,
    wallet: given.wallet,
    leases,
    limits: reward,
    metrics: createRewardMetrics(given.registry),
    log,
    tellEnded: (id) => desk().tell('ended', { id }),
    runs,
  });
  const component = defineComponent({
    name: 'reward',
    kinds: [kind],
    rows: {
      routes: [rewardRoute],
      cancel: (requestId) =>
        cancelGeneration(generations(), requestId, limits.generation.cancelWaitMs),
    },
    size: () => runs.size,
    drain() {
      for (const run of runs) run.stop();
    },
    close: () => leases.close(),
  });
  const services: RewardServices = { enqueue: (held) => desk().tell('enqueue', held) };
  return { component, services };
}

function readPageOn({ tasks, limits, log }: RewardGiven): RewardDeps['readPage'] {
  return async (payload, accountId) => {
    const task = { name: 'read-page', payload, accountId };
    const answer = await tasks().ask('run', task, limits.reward.readMs);
    if (answer.ok && answer.value.ok) return answer.value.value as ReadPage;
    log.warn({ account: accountId }, 'the text of a page could not be read');
    return null;
  };
}
