// What a query is started with, and what its kind is given by the shard.
import type { ParameterValue } from '../../media/search/contract.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { AnswerTally } from '../../runtime/limiter/answers.ts';
import type { TransientMap } from '../../runtime/transient.ts';
import type { RequestDeps, RequestSpec } from '../billed-request/spec.ts';
import type { SearchDesk, SearchOrder } from '../search/contract.ts';
import type { QueryMetrics } from './metrics.ts';
import type { QueryEnd, QueryProtocol } from './protocol.ts';
import type { ReplySeals } from './sealed.ts';

/** What is asked for and what it costs, once nothing refuses it. */
export interface QueryPlan {
  search: SearchOrder;
  /** Names of parameters that were not taken, and what was filled in. */
  ignored: readonly string[];
  assumed: Readonly<Record<string, ParameterValue>>;
  priceMicros: bigint;
  /** The price where items were found, and no answer could be made of them. */
  unansweredMicros: bigint;
}

/** It stays on its shard, so it may hold functions. */
export interface QuerySpec extends RequestSpec {
  plan: QueryPlan;
  /** Called once, when it is over, and its money done with. */
  ended(end: QueryEnd): void;
}

export interface QueryDeps extends RequestDeps {
  desk: SearchDesk;
  seals: ReplySeals;
  tally: AnswerTally;
  queryMetrics: QueryMetrics;
  /** A stop ends those that run on this node. */
  running: TransientMap<string, ActorRef<QueryProtocol>>;
}
