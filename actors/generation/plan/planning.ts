// Decides, before anything is held, what a request may be answered by: the candidates in order, and
// whether the web is searched first. An exact model is its own only candidate; a managed route
// chooses among its pool.
import { performance } from 'node:perf_hooks';
import { classifyTask } from '../../../media/model/choose/classify.ts';
import { isSeen, isSound } from '../../../media/model/choose/needs.ts';
import { asksForNews } from '../../../media/model/choose/news.ts';
import { openPolicy, policyVersion } from '../../../media/model/choose/policy.ts';
import type { HostedTool } from '../../../media/model/hosted-tools.ts';
import { mediaPath } from '../../../media/model/media-path.ts';
import type { GenerationRequest } from '../../../media/model/request.ts';
import { asksChatSearch, isSearchTool } from '../../../media/model/search-tools.ts';
import type {
  ProviderFamily,
  UpstreamTarget,
} from '../../../media/providers/generation/contract.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Catalog } from '../../catalog/current.ts';
import type { ManagedRoute } from '../../catalog/managed.ts';
import type { CatalogModel } from '../../catalog/model.ts';
import { isRuled } from '../../catalog/ruled/rules.ts';
import { webSearchOf } from '../../catalog/surface.ts';
import { requireKind, unknownModel } from '../../catalog/use.ts';
import type { RouteHealth } from '../../provider-health/health.ts';
import type { Candidate, RoutingPlan, SearchPlan } from '../spec.ts';
import { type Plan, planRoute } from './plan.ts';
import { unpricedFor, unpricedProblem } from './priced-tools.ts';
import { hasOwnSearch, mustSearchNatively, planSearch } from './search-plan.ts';

export interface PlanningInput {
  request: GenerationRequest;
  /** The tools of the request that a provider runs and bills. */
  hosted: readonly HostedTool[];
  inputTokens: number;
  catalog: Catalog;
  health: RouteHealth;
  family(name: string): ProviderFamily;
  /** The alias that the conversation's last turn had; null: none, or it does not matter. */
  stickyAlias: string | null;
  /** Called with the alias that answered a managed request. */
  answered(modelAlias: string): Promise<void> | null;
  nowMs: number;
}

export interface GenerationPlan {
  candidates: Candidate[];
  routing: RoutingPlan | null;
  search: SearchPlan | null;
  hosted: readonly HostedTool[];
  outputTokensCeiling: number;
}

/** @throws Problem model_not_found, invalid_request, input_too_long, no_route_available */
export function planGeneration(input: PlanningInput): GenerationPlan {
  const { request, catalog } = input;
  const route = catalog.routes.get(request.model);
  const model = catalog.models.get(request.model);
  const named = model ?? route;
  if (named !== undefined) requireKind(named, 'generation');
  const decides = route !== undefined || (model !== undefined && lacksSearchTool(input, model));
  const search = planSearch(request, { search: webSearchOf(catalog.snapshot) }, decides);
  if (model !== undefined) return planExact(input, model, search);
  if (route !== undefined) return planManaged(input, route, search);
  throw unknownModel(catalog, request.model, 'generation');
}

/** The first use of the patterns compiles them, which takes tens of ms: at the start, not later. */
export function warmPlanning(): void {
  for (const text of ['Fix the bug, please.', 'Wie ist das Wetter heute — 今日?']) {
    const parts = [{ type: 'text' as const, text }];
    const turn = { role: 'user' as const, parts, toolCalls: [], toolCallId: null };
    classifyTask({ messages: [turn], tools: [], toolChoice: null, outputFormat: { type: 'text' } });
    asksForNews(text);
  }
}

function planExact(
  input: PlanningInput,
  model: CatalogModel,
  search: SearchPlan | null,
): GenerationPlan {
  const { request, health, nowMs } = input;
  if (model.targets.length === 0) throw new Problem('no_route_available');
  refuseIncapable(request, model);
  const targets = health.order(model.targets, nowMs);
  const reasons = model.capabilities.includes('reasoning');
  const isAsked = asksChatSearch(request);
  const told = targets.filter((target) => {
    const family = input.family(target.family);
    // Others would answer without the search, and nobody would say so.
    return (
      family.lacks(request, reasons, target) === null && (!isAsked || family.format === 'chat')
    );
  });
  let able = told.filter((target) => unpricedAt(input, model, target) === null);
  if (able.length === 0) refuseUnpriced(input, [{ ...model, targets: told }]);
  if (able.length === 0) throw lacking(input, targets, reasons);
  if (search !== null && mustSearchNatively(search)) able = searching(input, model, able, search);
  return {
    candidates: able.map((target) => ({ model, target })),
    routing: null,
    search,
    hosted: input.hosted,
    outputTokensCeiling: ceilingOf(request, [model]),
  };
}

function unpricedAt(
  { hosted, family }: PlanningInput,
  model: CatalogModel,
  target: UpstreamTarget,
): HostedTool | null {
  return hosted.length === 0 ? null : unpricedFor(hosted, model, family(target.family).format);
}

/** @throws Problem invalid_request at the first tool that one of these has no price for */
function refuseUnpriced(input: PlanningInput, models: readonly CatalogModel[]): void {
  for (const model of models) {
    for (const target of model.targets) {
      const tool = unpricedAt(input, model, target);
      if (tool !== null) throw unpricedProblem(tool);
    }
  }
}

/** The client offers a provider's search to a model of another format: ours stands in for it. */
function lacksSearchTool({ request, family }: PlanningInput, { targets }: CatalogModel): boolean {
  const offered = request.nativeTools.find(({ value }) => isSearchTool(value));
  return (
    offered !== undefined &&
    targets.every((target) => family(target.family).format !== offered.format)
  );
}

function planManaged(
  input: PlanningInput,
  route: ManagedRoute,
  search: SearchPlan | null,
): GenerationPlan {
  const { request, catalog, inputTokens, health, nowMs, stickyAlias } = input;
  const begunMs = performance.now();
  if (!route.public.available) throw new Problem('no_route_available');
  const mustSearch = mustSearchNatively(search);
  const routing = isRuled(catalog) ? catalog.routing : openPolicy;
  const plan = planRoute({
    route: ableRoute(input, route, search),
    request,
    inputTokens,
    // What its lists forbid is not in the catalog.
    policy: { ...openPolicy, costPremiumMax: routing.costPremiumMax },
    stickyAlias,
    extraCapabilities: mustSearch ? ['web_search'] : [],
    health,
    formatOf: (name) => input.family(name).format,
    nowMs,
    random: Math.random,
  });
  if (plan.status === 'none') throw noneAble(input, route, plan.reason, mustSearch);
  const { attempts, decision } = plan;
  return {
    candidates: attempts,
    routing: {
      decision_category: decision.category,
      sticky: decision.sticky,
      policy_version: policyVersion(routing),
      catalog_version: catalog.snapshot.contentVersion,
      decisionMs: Math.round((performance.now() - begunMs) * 1_000) / 1_000,
      answered: input.answered,
    },
    search,
    hosted: input.hosted,
    outputTokensCeiling: ceilingOf(
      request,
      attempts.map(({ model }) => model),
    ),
  };
}

/**
 * The route with those provider routes alone that have a form for everything in the request, and a
 * search beside it where that is needed. Models whose providers are disabled are left out: the
 * decision would take what it finds without a route for what a policy has forbidden.
 */
function ableRoute(
  input: PlanningInput,
  route: ManagedRoute,
  search: SearchPlan | null,
): ManagedRoute {
  const { request, family } = input;
  const mustSearch = mustSearchNatively(search);
  const isAble = (target: UpstreamTarget, model: CatalogModel) => {
    const { capabilities } = model;
    const { lacks } = family(target.family);
    if (lacks(request, capabilities.includes('reasoning')) !== null) return false;
    if (unpricedAt(input, model, target) !== null) return false;
    // Models without a search are left to the decision, which says so.
    if (!mustSearch || !capabilities.includes('web_search')) return true;
    return hasOwnSearch(request, search, model, target, family);
  };
  const isWhole = ({ model }: ManagedRoute['pool'][number]) =>
    model.targets.length > 0 && model.targets.every((target) => isAble(target, model));
  if (route.pool.every(isWhole)) return route;
  const pool = route.pool.flatMap((member) => {
    const targets = member.model.targets.filter((target) => isAble(target, member.model));
    return targets.length === 0 ? [] : [{ ...member, model: { ...member.model, targets } }];
  });
  return { ...route, pool };
}

function noneAble(
  input: PlanningInput,
  { pool }: ManagedRoute,
  reason: Extract<Plan, { status: 'none' }>['reason'],
  mustSearch: boolean,
): Problem {
  const models = pool.map(({ model }) => model);
  if (reason !== 'context' && reason !== 'policy') refuseUnpriced(input, models);
  return refusal(reason, mustSearch);
}

function refusal(
  reason: Extract<Plan, { status: 'none' }>['reason'],
  mustSearch: boolean,
): Problem {
  if (reason === 'context') return new Problem('input_too_long');
  if (reason === 'policy') return new Problem('policy_blocked');
  if (mustSearch) return new Problem('no_route_available', { param: 'web_search' });
  return new Problem('invalid_request', {
    message: 'No model of this route can take everything that is in the request.',
    param: 'model',
  });
}

/** What the client asked for, or the model's own; at most the most that a candidate may give. */
function ceilingOf(request: GenerationRequest, models: readonly CatalogModel[]): number {
  const most = models.reduce((max, model) => Math.max(max, model.outputTokensMax), 1);
  return Math.min(request.outputTokensMax ?? most, most);
}

function refuseIncapable(request: GenerationRequest, model: CatalogModel): void {
  if (request.tools.length > 0 && !model.capabilities.includes('tools')) {
    throw fieldProblem('tools', 'The model takes no tools.');
  }
  const readsMedia = model.capabilities.includes('vision');
  const hears = model.capabilities.includes('audio');
  if (readsMedia && hears) return;
  for (const { parts } of request.messages) {
    for (const part of parts) {
      if (!readsMedia && isSeen(part)) {
        const { type } = part;
        throw fieldProblem(mediaPath(request, type), `The model reads no ${type}s.`);
      }
      if (!hears && isSound(part)) {
        throw fieldProblem(mediaPath(request, 'audio'), 'The model takes no audio.');
      }
    }
  }
}

function lacking(
  input: PlanningInput,
  targets: readonly UpstreamTarget[],
  reasons: boolean,
): Problem {
  const { request } = input;
  const path = targets
    .map((target) => input.family(target.family).lacks(request, reasons, target))
    .find((member) => member !== null);
  // Not every format has a member for the path: the message says it too.
  const field = path ?? 'model';
  return fieldProblem(field, `The model cannot take this part of the request: '${field}'.`);
}

/**
 * Nothing searches for models here: the candidates must do it themselves, or nobody does.
 * @throws Problem no_route_available when none of them does
 */
function searching(
  { family, request }: PlanningInput,
  model: CatalogModel,
  targets: readonly UpstreamTarget[],
  search: SearchPlan,
): UpstreamTarget[] {
  const able = targets.filter((target) => hasOwnSearch(request, search, model, target, family));
  if (able.length > 0) return able;
  const path = search.required ? 'metadata.require_web_search' : 'web_search';
  throw new Problem('no_route_available', {
    message: 'Web search is not available for this model at the moment.',
    param: path,
  });
}
