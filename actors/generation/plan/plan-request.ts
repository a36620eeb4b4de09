// What a new generation is planned from, in order: a shorter context, the conversation's last
// model, the decision, and whether the answer's format compiles.
import { withClientContext } from '../../../media/model/client-context.ts';
import { hostedTools } from '../../../media/model/hosted-tools.ts';
import type { GenerationRequest } from '../../../media/model/request.ts';
import { asksChatSearch } from '../../../media/model/search-tools.ts';
import { estimateInputTokens } from '../../../media/model/tokens.ts';
import { requireFamily } from '../../../media/providers/generation/families.ts';
import type { LookedAt } from '../../billed-request/funds-look.ts';
import type { Catalog } from '../../catalog/current.ts';
import { type ModelRules, underRules } from '../../catalog/ruled/rules.ts';
import { requireLeastHold } from '../least-hold.ts';
import type { GenerationPlanned } from '../spec.ts';
import { planThatFits } from './context-fit.ts';
import { assertCompiles } from './format-check.ts';
import { planGeneration } from './planning.ts';
import { conversationOf, optimized } from './prepare.ts';
import { refuseForbiddenSearch } from './priced-tools.ts';
import { withSharedSearch } from './search-plan.ts';
import type { PlanServices, PoolClient } from './services.ts';

export interface PlanWanted extends LookedAt {
  request: GenerationRequest;
  /** What the organization forbids; null: nothing. */
  rules: ModelRules | null;
}

/** What the request itself forbids. */
function narrowing({ controls: { routing } }: GenerationRequest): ModelRules | null {
  return routing === null ? null : { routing, region: null };
}

/**
 * Everything that is decided of a generation before it is opened: its context, its candidates, its
 * search and its format.
 * @throws Problem model_not_found, invalid_request, input_too_long, no_route_available,
 * insufficient_credits, spend_limit_exceeded, policy_blocked, forbidden, overloaded
 */
export async function planRequest(
  given: PlanServices,
  { request: asked, rules, ...payer }: PlanWanted,
): Promise<GenerationPlanned> {
  const { accountId } = payer;
  const services = underRules(given, [rules, narrowing(asked)]);
  const clientWith = (inputTokens: number): PoolClient => ({
    accountId,
    requireFunds: () => requireLeastHold(services, payer, asked, inputTokens),
  });
  const catalog = services.catalog();
  const managed = catalog.routes.get(asked.model);
  const isShared = asksChatSearch(asked) && !forwardsChat(catalog, asked);
  const said = isShared ? withSharedSearch(asked) : asked;
  const request = await optimized(said, clientWith(0), managed, services);
  const inputTokens = estimateInputTokens(request);
  const conversation =
    managed === undefined ? null : await conversationOf(request, accountId, services);
  const hosted = hostedTools(request);
  refuseForbiddenSearch(hosted, request.controls);
  const planWith = (tokens: number) =>
    planGeneration({
      request,
      hosted,
      inputTokens: tokens,
      catalog,
      health: services.health,
      family: requireFamily,
      stickyAlias: conversation?.stickyAlias ?? null,
      answered: conversation?.answered ?? (() => null),
      nowMs: Date.now(),
    });
  const client = clientWith(inputTokens);
  const plan = await planThatFits(request, inputTokens, planWith, client, services);
  await assertCompiles(request, plan.candidates, client, services);
  // Behind the decision: what is searched for and how hard it is are the user's own words.
  const told = withClientContext(request, Date.now());
  const inputTokensEstimate = told === request ? inputTokens : estimateInputTokens(told);
  const { candidates, routing, search, outputTokensCeiling } = plan;
  return {
    candidates,
    routing,
    search,
    hosted,
    outputTokensCeiling,
    inputTokensEstimate,
    request: told,
  };
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
