// What a query of a surface is before it begins: who may serve it, what it costs, or why it is
// refused. The order of the refusals is that of `shared/spec/query.md`, section 1.
import type { SearchAsk } from '../../media/search/contract.ts';
import { isSurfaceName, type SurfaceName } from '../../media/search/surfaces.ts';
import type { AnswerTally } from '../../runtime/limiter/answers.ts';
import type { Limiter } from '../../runtime/limiter.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Catalog } from '../catalog/current.ts';
import { isRuled, type ModelRule, type ModelRules } from '../catalog/ruled/rules.ts';
import { type CatalogSurface, surfaceOf } from '../catalog/surface.ts';
import { withheldModel } from '../catalog/use.ts';
import type { RouteHealth } from '../provider-health/health.ts';
import type { AnswerOrder } from '../search/contract.ts';
import type { QueryPlan } from './spec.ts';

export interface PlanServices {
  health: Pick<RouteHealth, 'stats'>;
  limiter: Limiter;
  tally: AnswerTally;
}

/** A query as it was read. */
export interface QueryAsked {
  surface: SurfaceName;
  ask: SearchAsk;
  ignored: readonly string[];
  assumed: QueryPlan['assumed'];
  /** Null: the surface's own age. */
  maxAgeSeconds: number | null;
  accountId: string;
  /** What the caller's organization forbids. */
  rules: ModelRules | null;
}

/** An account is counted apart on each surface. */
export function tallyName(accountId: string, surface: string): string {
  return `${accountId} ${surface}`;
}

/**
 * `catalog` is the caller's: what its organization forbids is not in it.
 * @throws Problem policy_blocked, no_route_available, rate_limited
 */
export function planQuery(services: PlanServices, catalog: Catalog, asked: QueryAsked): QueryPlan {
  const surface = requireSurface(services, catalog, asked.surface);
  requireRate(services, asked.accountId, surface);
  const { ask, accountId, maxAgeSeconds, ignored, assumed } = asked;
  const { searchSurface, priceMicros } = surface;
  const served = searchSurface === null || searchSurface === 'web_answer' ? null : searchSurface;
  if (priceMicros === null || served === null) throw noRoute();
  const search = {
    surface,
    ask: { ...ask, surface: served },
    accountId,
    maxAgeSeconds: maxAgeSeconds ?? surface.maxAgeSeconds,
    answer: answerOf(catalog, surface, asked.rules),
  };
  const unansweredMicros = leastPrice(priceMicros, surfaceOf(catalog.snapshot, served));
  return { search, ignored, assumed, priceMicros, unansweredMicros };
}

function requireSurface(
  { health }: PlanServices,
  catalog: Catalog,
  name: SurfaceName,
): CatalogSurface {
  const rule = isRuled(catalog) ? catalog.withheldSurfaces.get(name) : undefined;
  if (rule !== undefined) throw withheldSurface(name, rule);
  const surface = surfaceOf(catalog.snapshot, name);
  if (surface === null || surface.priceMicros === null || !isSurfaceName(surface.name)) {
    throw noRoute();
  }
  const { answerModel, targets } = surface;
  if (name === 'web_answer') {
    if (answerModel === null) throw noRoute();
    const withheld = withheldRule(catalog, answerModel);
    if (withheld !== null) throw withheldModel(answerModel, withheld, 'surface');
  }
  const nowMs = Date.now();
  const isClosed = ({ upstream }: (typeof targets)[number]) =>
    health.stats(upstream.routeId, nowMs).state !== 'open';
  if (!targets.some(isClosed)) throw noRoute();
  return surface;
}

/** @throws Problem rate_limited */
function requireRate(
  { limiter, tally }: PlanServices,
  accountId: string,
  { name, requestsPerMinute }: CatalogSurface,
): void {
  const counted = tallyName(accountId, name);
  const nowMs = Date.now();
  if (requestsPerMinute !== null) {
    const slot = limiter.slotOf(`query ${counted}`, nowMs);
    const rate = limiter.takeRequest(slot, requestsPerMinute, nowMs);
    if (!rate.allowed) {
      const message = `At most ${requestsPerMinute} queries of this surface are allowed a minute.`;
      throw limited(message, rate.retryAfterSeconds);
    }
  }
  const retryAfterSeconds = tally.retryAfterSeconds(counted, nowMs);
  if (retryAfterSeconds === null) return;
  const message =
    'Most of the queries of this surface in the last hour found nothing or were left unread.';
  throw limited(message, retryAfterSeconds);
}

function limited(message: string, retryAfterSeconds: number): Problem {
  return new Problem('rate_limited', {
    message,
    headers: { 'retry-after': `${retryAfterSeconds}` },
  });
}

/** Where a search has scores an answer is an addition: without a model that may be used, none. */
function answerOf(
  catalog: Catalog,
  { answerModel }: CatalogSurface,
  rules: ModelRules | null,
): AnswerOrder | null {
  if (answerModel === null || withheldRule(catalog, answerModel) !== null) return null;
  return { model: answerModel, rules };
}

function withheldRule(catalog: Catalog, alias: string): ModelRule | null {
  return isRuled(catalog) ? (catalog.withheld.get(alias)?.rule ?? null) : null;
}

/** Never more than was held. A search that is not sold alone costs nothing. */
function leastPrice(heldMicros: bigint, searched: CatalogSurface | null): bigint {
  const micros = searched?.priceMicros ?? 0n;
  return micros < heldMicros ? micros : heldMicros;
}

function withheldSurface(name: SurfaceName, rule: ModelRule): Problem {
  return new Problem('policy_blocked', {
    message: `A policy of the organization does not allow the surface ${name}.`,
    details: { rule },
    param: 'surface',
  });
}

function noRoute(): Problem {
  return new Problem('no_route_available', { message: noRouteMessage });
}

export const noRouteMessage = 'No provider can serve this surface at the moment.';
