// Queries of a shard: their actors, and what routes need to open one.
import type { Sql } from '../../db/driver/sql.ts';
import type { ActorSystem } from '../../runtime/actor/contract.ts';
import type { Config } from '../../runtime/config.ts';
import type { AnswerTally } from '../../runtime/limiter/answers.ts';
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';
import { createSealer, type Sealer } from '../../runtime/seal.ts';
import { type Component, defineComponent } from '../../runtime/shard/component.ts';
import { TransientMap } from '../../runtime/transient.ts';
import type { RequestDeps } from '../billed-request/spec.ts';
import type { SearchDesk } from '../search/contract.ts';
import { createQueryMetrics } from './metrics.ts';
import { cancelQuery, type QueryServices } from './open.ts';
import { createQueryKind } from './query.ts';
import { createReplySeals } from './sealed.ts';
import type { QueryDeps } from './spec.ts';

/** The canonical path of queries. */
const routes = ['/api/v1/query'];
/** What is kept of a drain for each that runs. */
const settleMsEach = 2;

type Given = Omit<RequestDeps, 'running'> & {
  config: Config;
  registry: MetricsRegistry;
  sql: Sql;
  sealer: Sealer;
  desk: SearchDesk;
  tally: AnswerTally;
  system(): ActorSystem;
};

/** Builds the queries of one shard. */
export function createQueryComponent(given: Given) {
  const { limits, desk, tally, limiter, health, wallet } = given;
  const { previousSecret } = given.config;
  const running: QueryDeps['running'] = new TransientMap();
  const metrics = createQueryMetrics(given.registry);
  const previous = previousSecret === null ? [] : [createSealer(previousSecret)];
  const seals = createReplySeals([given.sealer, ...previous]);
  const kind = createQueryKind({
    instanceId: given.instanceId,
    wallet,
    health,
    fundsEstimate: given.fundsEstimate,
    limiter,
    limits,
    metrics: given.metrics,
    log: given.log,
    desk,
    seals,
    tally,
    queryMetrics: metrics,
    running,
  });
  const services = (system: ActorSystem): QueryServices => ({
    system,
    instanceId: given.instanceId,
    sql: given.sql,
    queryKind: kind,
    desk,
    seals,
    tally,
    limiter,
    health,
    wallet,
    limits,
    metrics,
  });
  const component: Component = defineComponent({
    name: 'query',
    kinds: [kind],
    rows: { routes, cancel: (requestId) => cancelQuery(services(given.system()), requestId) },
    size: () => running.size,
    has: (id) => running.has(id),
    settleMsEach,
    finish() {
      for (const query of running.values()) query.tell('interrupt', null);
    },
    giveUp() {
      for (const query of running.values()) query.tell('giveUp', null);
    },
  });
  return { component, services };
}
