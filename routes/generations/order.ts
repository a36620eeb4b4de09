// What every generation route does before it opens a generation: the model, the bounds of the
// request, the idempotency key.
import type { GenerationOrder, GenerationPlanned } from '../../actors/generation/open.ts';
import { planGeneration } from '../../actors/generation/planning.ts';
import { withClientContext } from '../../media/model/client-context.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import { estimateInputTokens } from '../../media/model/tokens.ts';
import { requireFamily } from '../../media/providers/families.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import type { KeyCaller, Services } from '../services.ts';
import { planOfFitting } from './fitting.ts';
import { assertCompiles } from './format.ts';
import { fingerprint, fingerprintInTurns, idempotencyKeyOf } from './idempotency.ts';
import { conversationOf, optimized } from './prepare.ts';

/** A body that is long to hash, at four bytes a token. */
const longTokensMin = fixedLimits.body.longBytesMin / 4;

export interface OrderInput {
  request: GenerationRequest;
  body: Record<string, unknown>;
  caller: KeyCaller;
  services: Services;
  exchange: Exchange;
  /** The canonical path: aliases are one route. */
  route: string;
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
    background: input.background === true,
    alias: request.model,
    plan: () => planned(input),
    takePlace: () => caller.place.take(),
  };
}

function fingerprintOf({ request, body }: OrderInput): string | Promise<string> {
  const isLong = estimateInputTokens(request) >= longTokensMin;
  return isLong ? fingerprintInTurns(body) : fingerprint(body);
}

/** @throws Problem model_not_found, invalid_request, input_too_long, no_route_available, … */
async function planned(input: OrderInput): Promise<GenerationPlanned> {
  const { caller, services } = input;
  const { limiter, limits } = services;
  if (limiter.detachedCount() >= limits.generation.detachedMax) {
    throw new Problem('overloaded', { headers: { 'retry-after': '5' } });
  }
  const catalog = services.catalog();
  const managed = catalog.routes.get(input.request.model);
  const request = await optimized(input.request, managed, services);
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
      answered: conversation?.answered ?? (() => {}),
      nowMs: Date.now(),
    });
  const plan = await planOfFitting(request, inputTokens, planWith, services);
  await assertCompiles(request, services);
  // Behind the decision: what is searched for and how hard it is are the user's own words.
  const told = withClientContext(request, Date.now());
  const inputTokensEstimate = told === request ? inputTokens : estimateInputTokens(told);
  const { candidates, routing, search, outputTokensCeiling } = plan;
  return { candidates, routing, search, outputTokensCeiling, inputTokensEstimate, request: told };
}

/** Whether the alias is a managed route: its replies have a receipt. */
export function isManaged(services: Services, { model }: GenerationRequest): boolean {
  return services.catalog().routes.has(model);
}

/** Clients retry by themselves, without an idempotency key: that must be seen somewhere. */
function logRetry({ exchange, caller, services, route }: OrderInput): void {
  const retries = exchange.header('x-stainless-retry-count');
  if (retries === undefined || retries === '0') return;
  const { requestId } = exchange;
  const { accountId } = caller;
  services.log.info({ requestId, accountId, route, retries }, 'a client tries again');
}
