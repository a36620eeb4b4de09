// What every generation route does before it opens a generation: the model, the bounds of the
// request, the idempotency key.
import type { GenerationOrder, GenerationPlanned } from '../../actors/generation/open.ts';
import { planGeneration } from '../../actors/generation/plan/planning.ts';
import { withSharedSearch } from '../../actors/generation/plan/search-plan.ts';
import { withClientContext } from '../../media/model/client-context.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { asksChatSearch } from '../../media/model/search-tools.ts';
import { estimateInputTokens, isLongRequest } from '../../media/model/tokens.ts';
import { requireFamily } from '../../media/providers/generation/families.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import type { KeyCaller, Services } from '../services.ts';
import { logRetry, requireDetachedCapacity } from './admission.ts';
import { planThatFits } from './fitting.ts';
import { assertCompiles } from './format.ts';
import { fingerprint, fingerprintInTurns, idempotencyKeyOf } from './idempotency.ts';
import { conversationOf, optimized } from './prepare.ts';

export interface OrderInput {
  request: GenerationRequest;
  body: Record<string, unknown>;
  caller: KeyCaller;
  services: Services;
  exchange: Exchange;
  /** The canonical path: aliases are one route. */
  route: string;
  /** Its answer can be read and continued. */
  stored?: boolean;
  /** Runs to its end whoever listens. */
  background?: boolean;
}

/**
 * The order for `openGeneration`.
 * @throws Problem invalid_request when the idempotency keys differ
 */
export async function orderGeneration(input: OrderInput): Promise<GenerationOrder> {
  const { request, body, caller, exchange } = input;
  logRetry(input);
  const idempotencyKey = idempotencyKeyOf(exchange, body);
  return {
    exchangeId: exchange.requestId,
    accountId: caller.accountId,
    walletId: caller.walletId,
    apiKeyId: caller.keyId,
    route: input.route,
    idempotencyKey,
    fingerprint: idempotencyKey === null ? '' : await fingerprintOf(input),
    keepsAnswer: idempotencyKey !== null || input.stored === true,
    background: input.background === true,
    alias: request.model,
    plan: () => planned(input),
    takePermit: () => caller.permit.take(),
  };
}

function fingerprintOf({ request, body }: OrderInput): string | Promise<string> {
  return isLongRequest(request) ? fingerprintInTurns(body) : fingerprint(body);
}

/** @throws Problem model_not_found, invalid_request, input_too_long, no_route_available, … */
async function planned(input: OrderInput): Promise<GenerationPlanned> {
  const { caller, services } = input;
  requireDetachedCapacity(services);
  const catalog = services.catalog();
  const managed = catalog.routes.get(input.request.model);
  const asked = input.request;
  const isShared = asksChatSearch(asked) && !forwardsChat(catalog, asked);
  const request = await optimized(isShared ? withSharedSearch(asked) : asked, managed, services);
  const inputTokens = estimateInputTokens(request);
  const conversation =
    managed === undefined ? null : await conversationOf(request, caller, services);
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
function forwardsChat(
  { models }: ReturnType<Services['catalog']>,
  { model, controls }: GenerationRequest,
): boolean {
  if (controls.webSearch === true || controls.requireWebSearch) return false;
  const named = models.get(model);
  // What other kinds are used for is said when it is planned.
  if (named?.kind !== 'generation') return false;
  return named.targets.some(({ family }) => requireFamily(family).format === 'chat');
}

/** Whether the alias is a managed route: its replies have a receipt. */
export function isManaged(services: Services, { model }: GenerationRequest): boolean {
  return services.catalog().routes.has(model);
}
