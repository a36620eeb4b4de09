// The one entry for whoever wants a generation: a route or another actor. A new one is planned
// here; a known idempotency key attaches to its generation or replays it.
import { withClientContext } from '../../media/model/client-context.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { asksChatSearch } from '../../media/model/search-tools.ts';
import { estimateInputTokens } from '../../media/model/tokens.ts';
import { requireFamily } from '../../media/providers/generation/families.ts';
import type { Limiter } from '../../runtime/limiter.ts';
import { requireDetachedCapacity } from '../billed-request/opening.ts';
import type { Catalog } from '../catalog/current.ts';
import type { CountInput } from './counting.ts';
import {
  type GenerationOrder,
  type GenerationPlanned,
  type MakeSink,
  type Opened,
  type OpenServices,
  openGeneration,
} from './open.ts';
import { planThatFits } from './plan/context-fit.ts';
import { assertCompiles } from './plan/format-check.ts';
import { planGeneration } from './plan/planning.ts';
import { conversationOf, optimized } from './plan/prepare.ts';
import { withSharedSearch } from './plan/search-plan.ts';
import type { PlanServices } from './plan/services.ts';

/** What generations are given by their shard. */
export interface GenerationServices extends OpenServices, PlanServices {
  limiter: Limiter;
  /** Input tokens of a request, free of charge. */
  countInput: CountInput;
}

/** What is wanted, and by whom. */
export interface GenerationWanted extends Omit<GenerationOrder, 'alias' | 'keepsAnswer' | 'plan'> {
  request: GenerationRequest;
  /** Its answer can be read and continued. */
  stored: boolean;
}

/**
 * Plans and opens a generation, and waits until its reply can begin.
 * @throws Problem model_not_found, invalid_request, input_too_long, no_route_available, overloaded,
 * idempotency_key_reused, conflict, policy_blocked
 */
export function startGeneration(
  services: GenerationServices,
  wanted: GenerationWanted,
  makeSink: MakeSink,
  onAbort: (listener: () => void) => void,
): Promise<Opened> {
  const { idempotencyKey, request, stored } = wanted;
  const order: GenerationOrder = {
    exchangeId: wanted.exchangeId,
    accountId: wanted.accountId,
    walletId: wanted.walletId,
    apiKeyId: wanted.apiKeyId,
    route: wanted.route,
    idempotencyKey,
    fingerprint: wanted.fingerprint,
    keepsAnswer: idempotencyKey !== null || stored,
    background: wanted.background,
    alias: request.model,
    plan: () => planned(services, wanted),
    takePermit: wanted.takePermit,
  };
  return openGeneration(services, order, makeSink, onAbort);
}

/** @throws Problem model_not_found, invalid_request, input_too_long, no_route_available, … */
async function planned(
  services: GenerationServices,
  { request: asked, accountId }: Pick<GenerationWanted, 'request' | 'accountId'>,
): Promise<GenerationPlanned> {
  requireDetachedCapacity(services);
  const catalog = services.catalog();
  const managed = catalog.routes.get(asked.model);
  const isShared = asksChatSearch(asked) && !forwardsChat(catalog, asked);
  const request = await optimized(isShared ? withSharedSearch(asked) : asked, managed, services);
  const inputTokens = estimateInputTokens(request);
  const conversation =
    managed === undefined ? null : await conversationOf(request, accountId, services);
  const planWith = (tokens: number) =>
    planGeneration({
      request,
      inputTokens: tokens,
      catalog,
      health: services.health,
      family: requireFamily,
      stickyAlias: conversation?.stickyAlias ?? null,
      answered: conversation?.answered ?? (() => null),
      nowMs: Date.now(),
    });
  const plan = await planThatFits(request, inputTokens, planWith, services);
  await assertCompiles(request, services);
  // Behind the decision: what is searched for and how hard it is are the user's own words.
  const told = withClientContext(request, Date.now());
  const inputTokensEstimate = told === request ? inputTokens : estimateInputTokens(told);
  const { candidates, routing, search, outputTokensCeiling } = plan;
  return { candidates, routing, search, outputTokensCeiling, inputTokensEstimate, request: told };
}

/**
 * Whether the model was named itself and one of its providers speaks the Chat format. Who asks for
 * a search by the shared members as well would be searched for twice.
 */
function forwardsChat({ models }: Catalog, { model, controls }: GenerationRequest): boolean {
  if (controls.webSearch === true || controls.requireWebSearch) return false;
  const named = models.get(model);
  // What other kinds are used for is said when it is planned.
  if (named?.kind !== 'generation') return false;
  return named.targets.some(({ family }) => requireFamily(family).format === 'chat');
}
