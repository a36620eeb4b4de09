// A managed route as the chooser sees it at this moment: what each model of the pool would cost for
// this request, and how its provider routes are doing; and the choice back as what is called.
import type { Candidate, CandidateRoute, Choice } from '../../../media/model/choose/choose.ts';
import type { Needs } from '../../../media/model/choose/needs.ts';
import type { WireFormat } from '../../../media/model/request.ts';
import { noUsage } from '../../../media/model/usage.ts';
import type { UpstreamTarget } from '../../../media/providers/generation/contract.ts';
import type { ManagedRoute, PoolMember } from '../../catalog/managed.ts';
import type { CatalogModel } from '../../catalog/model.ts';
import type { RouteHealth } from '../../provider-health/health.ts';
import { charge } from '../../wallet/price.ts';

/** What an answer is taken for when the client names no ceiling: costs are only compared. */
const usualOutputTokens = 1_024;

export interface CandidateSources {
  health: Pick<RouteHealth, 'allows' | 'stats'>;
  /** The wire format of a provider family; null: none that clients speak. */
  formatOf(family: string): WireFormat | null;
  nowMs: number;
}

/** The pool of a route as candidates, in declared order. */
export function candidatesOf(
  route: Pick<ManagedRoute, 'pool'>,
  needs: Pick<Needs, 'inputTokens' | 'outputTokensMax'>,
  sources: CandidateSources,
): Candidate[] {
  return route.pool.map((member) => candidateOf(member, needs, sources));
}

function candidateOf(
  { model, quality, qualities }: PoolMember,
  needs: Pick<Needs, 'inputTokens' | 'outputTokensMax'>,
  sources: CandidateSources,
): Candidate {
  const outputTokens = Math.min(needs.outputTokensMax ?? usualOutputTokens, model.outputTokensMax);
  const usage = { ...noUsage(), inputTokens: needs.inputTokens, outputTokens };
  return {
    alias: model.alias,
    capabilities: model.capabilities,
    contextWindow: model.contextWindow,
    outputTokensMax: model.outputTokensMax,
    quality,
    qualities,
    costMicros: Number(charge(model.card, usage).chargeMicros),
    routes: model.targets.map((target) => routeOf(target, sources)),
  };
}

function routeOf(
  { routeId, family }: UpstreamTarget,
  { health, formatOf, nowMs }: CandidateSources,
): CandidateRoute {
  const { successRate, firstEventMs } = health.stats(routeId, nowMs);
  return {
    routeId,
    provider: providerOf(routeId),
    format: formatOf(family),
    healthy: health.allows(routeId, nowMs),
    successRate,
    firstEventMs,
  };
}

/** A provider's name has no slash; the name that a model has there may. */
function providerOf(routeId: string): string {
  const slash = routeId.indexOf('/');
  return slash < 0 ? routeId : routeId.slice(0, slash);
}

/** One attempt after the other: every provider route of the first choice, then of the next one. */
export function attemptsOf(
  route: Pick<ManagedRoute, 'pool'>,
  choices: readonly Choice[],
): { model: CatalogModel; target: UpstreamTarget }[] {
  return choices.flatMap(({ alias, routeIds }) => {
    const member = route.pool.find(({ model }) => model.alias === alias);
    if (member === undefined) return [];
    const { model } = member;
    return routeIds.flatMap((routeId) => {
      const target = model.targets.find((entry) => entry.routeId === routeId);
      return target === undefined ? [] : [{ model, target }];
    });
  });
}
