// The generations of a shard: their actors, and the connections to their providers.

import type { Sql } from '../../db/driver/sql.ts';
import { createUpstreamClient } from '../../media/providers/generation/call.ts';
import { requireFamily } from '../../media/providers/generation/families.ts';
import { searchClient } from '../../media/providers/search/search.ts';
import type { ActorRef, ActorSystem } from '../../runtime/actor/contract.ts';
import { type Component, defineComponent } from '../../runtime/shard/component.ts';
import { TransientMap } from '../../runtime/transient.ts';
import type { RequestDeps } from '../billed-request/spec.ts';
import { subscriberKind } from '../subscriber/subscriber.ts';
import { countTexts } from '../tasks/counting.ts';
import { checkAnswer } from '../tasks/format.ts';
import type { TasksProtocol } from '../tasks/protocol.ts';
import { createInputCounter } from './counting.ts';
import { createGenerationKind } from './generation.ts';
import { cancelGeneration } from './open.ts';
import { warmPlanning } from './plan/planning.ts';
import type { CountTokens, GenerationDeps } from './spec.ts';

/** The canonical paths of generations; aliases are one route. */
const routes = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/api/v1/llm/responses'];

/** What is kept of a drain for each that runs: its tokens, its settlement, its last words. */
const settleMsEach = 2;
/** Counting tokens has this share of a close. */
const countShare = 0.25;

type Given = Omit<RequestDeps, 'running'> & {
  sql: Sql;
  system(): ActorSystem;
  tasks(): ActorRef<TasksProtocol>;
  isFailing(): boolean;
};

/** Builds the generations of one shard. */
export function createGenerationComponent(given: Given) {
  const { limits, sql, tasks } = given;
  const running: GenerationDeps['running'] = new TransientMap();
  const upstream = createUpstreamClient({
    connectionsMax: limits.upstream.connectionsPerOriginMax,
  });
  let countTimeoutMs: number = limits.work.taskTimeoutMs;

  /** Counts with the tokenizer on the pool; a failing shard takes the estimate. */
  const countTokens: CountTokens = async (texts) => {
    // The tokenizer takes a second to load, on the cores that the next shard needs to start.
    if (given.isFailing()) return null;
    const asked = [texts.input, texts.output, texts.reasoning];
    const counts = await countTexts(tasks(), asked, countTimeoutMs);
    if (counts === null) return null;
    const [input = 0, output = 0, reasoning = 0] = counts;
    return { input, output, reasoning };
  };

  const deps: GenerationDeps = {
    instanceId: given.instanceId,
    wallet: given.wallet,
    upstream,
    search: searchClient,
    family: requireFamily,
    health: given.health,
    fundsEstimate: given.fundsEstimate,
    limiter: given.limiter,
    limits,
    countTokens,
    checkAnswer: (format, text) => checkAnswer(tasks(), format, text, limits.work.taskTimeoutMs),
    metrics: given.metrics,
    log: given.log,
    running,
  };
  const kind = createGenerationKind(deps);
  warmPlanning();
  const services = (system: ActorSystem) => ({
    system,
    sql,
    generationKind: kind,
    headersHoldBackMs: limits.http.headerHoldbackMs,
    upstream,
    countInput: createInputCounter(deps),
  });
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
      countTimeoutMs = leftMs * countShare;
      for (const generation of running.values()) generation.tell('interrupt', null);
    },
    giveUp() {
      for (const generation of running.values()) generation.tell('giveUp', null);
    },
    close: () => upstream.close(),
  });
  return { component, services };
}
