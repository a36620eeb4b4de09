// The generations of a shard: their actors, and the connections to their providers.
import type { Sql } from '../../db/driver/sql.ts';
import { createUpstreamClient } from '../../media/providers/generation/call.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import { requireFamily } from '../../media/providers/generation/families.ts';
import { tryTarget } from '../../media/providers/generation/trial.ts';
import type { ActorRef, ActorSystem } from '../../runtime/actor/contract.ts';
import type { GiveawayLimiter } from '../../runtime/limiter/giveaways.ts';
import { type Component, defineComponent } from '../../runtime/shard/component.ts';
import { TransientMap } from '../../runtime/transient.ts';
import type { RequestDeps } from '../billed-request/spec.ts';
import type { Catalog } from '../catalog/current.ts';
import type { WebSearch } from '../search/web-search.ts';
import { subscriberKind } from '../subscriber/subscriber.ts';
import { countTexts } from '../tasks/counting.ts';
import { checkAnswer } from '../tasks/format.ts';
import type { TasksProtocol } from '../tasks/protocol.ts';
import { type CountInput, createInputCounter } from './counting.ts';
import { createGenerationKind, type GenerationKind } from './generation.ts';
import { cancelGeneration } from './open.ts';
import { warmPlanning } from './plan/planning.ts';
import type { CountTokens, GenerationDeps } from './spec.ts';
import type { GenerationServices } from './start.ts';
import { UnreadParts } from './unread.ts';

/** The canonical paths of generations; aliases are one route. */
const routes = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/api/v1/llm/responses'];

/** What is kept of a drain for each that runs: its tokens, its settlement, its last words. */
const settleMsEach = 2;
/** Deadlines of a test call: an administrator waits for it. */
const trialDeadlines = {
  queueMs: 5_000,
  connectMs: 5_000,
  firstEventMs: 12_000,
  idleMs: 5_000,
  totalMs: 15_000,
};
/** Counting tokens has this share of a close. */
const countShare = 0.25;

type Given = Omit<RequestDeps, 'running'> & {
  sql: Sql;
  giveaways: GiveawayLimiter;
  search: WebSearch;
  system(): ActorSystem;
  tasks(): ActorRef<TasksProtocol>;
  catalog(): Catalog;
  isFailing(): boolean;
};

/** Counts with the tokenizer on the pool, within a time that a close shortens. */
function createCounter({
  limits,
  tasks,
  isFailing,
}: Pick<Given, 'limits' | 'tasks' | 'isFailing'>): {
  count: CountTokens;
  limit(timeoutMs: number): void;
} {
  let timeoutMs: number = limits.work.taskTimeoutMs;
  return {
    async count(accountId, texts) {
      // The tokenizer takes a second to load, on the cores that the next shard needs to start: a
      // failing shard takes the estimate.
      if (isFailing()) return null;
      const asked = [texts.input, texts.output, texts.reasoning];
      const counts = await countTexts(tasks(), accountId, asked, timeoutMs);
      if (counts === null) return null;
      const [input = 0, output = 0, reasoning = 0] = counts;
      return { input, output, reasoning };
    },
    limit(lessMs) {
      timeoutMs = lessMs;
    },
  };
}

function servicesOf(
  given: Given,
  system: ActorSystem,
  generationKind: GenerationKind,
  countInput: CountInput,
): GenerationServices {
  return {
    system,
    sql: given.sql,
    log: given.log,
    limits: given.limits,
    limiter: given.limiter,
    giveaways: given.giveaways,
    health: given.health,
    wallet: given.wallet,
    fundsEstimate: given.fundsEstimate,
    tasks: given.tasks,
    catalog: given.catalog,
    generationKind,
    headersHoldBackMs: given.limits.http.headerHoldbackMs,
    countInput,
  };
}

/** Builds the generations of one shard. */
export function createGenerationComponent(given: Given) {
  const { limits, tasks } = given;
  const running: GenerationDeps['running'] = new TransientMap();
  const upstream = createUpstreamClient({
    connectionsMax: limits.upstream.connectionsPerOriginMax,
  });
  const counter = createCounter(given);

  const deps: GenerationDeps = {
    instanceId: given.instanceId,
    wallet: given.wallet,
    upstream,
    search: given.search,
    unread: new UnreadParts(given),
    family: requireFamily,
    health: given.health,
    fundsEstimate: given.fundsEstimate,
    limiter: given.limiter,
    giveaways: given.giveaways,
    limits,
    countTokens: counter.count,
    checkAnswer: (accountId, format, text) =>
      checkAnswer(tasks(), accountId, format, text, limits.work.taskTimeoutMs),
    metrics: given.metrics,
    log: given.log,
    running,
  };
  const kind = createGenerationKind(deps);
  warmPlanning();
  const countInput = createInputCounter(deps);
  const services = (system: ActorSystem) => servicesOf(given, system, kind, countInput);
  const component: Component = defineComponent({
    name: 'generation',
    kinds: [kind, subscriberKind],
    rows: {
      routes,
      cancel: (requestId) =>
        cancelGeneration(services(given.system()), requestId, limits.generation.cancelWaitMs),
    },
    size: () => running.size,
    has: (id) => running.has(id),
    settleMsEach,
    finish(leftMs) {
      counter.limit(leftMs * countShare);
      for (const generation of running.values()) generation.tell('interrupt', null);
    },
    giveUp() {
      for (const generation of running.values()) generation.tell('giveUp', null);
    },
    close: () => upstream.close(),
  });
  return {
    component,
    services,
    /** One small real call of a provider. */
    tryProvider: (target: UpstreamTarget) => tryTarget(upstream, target, trialDeadlines),
  };
}
