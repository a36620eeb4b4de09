// The catalog as rules of an organization, or of a request, leave it: models, provider routes and
// pools that they forbid are not in it. Rules of a request come on top, so they only narrow.
import {
  allowsModel,
  allowsProvider,
  narrowPolicy,
  openPolicy,
  type RoutingPolicy,
} from '../../../media/model/choose/policy.ts';
import type { UpstreamTarget } from '../../../media/providers/generation/contract.ts';
import type { ModelKind } from '../../../media/providers/model-kinds.ts';
import type { Catalog } from '../current.ts';
import type { ManagedRoute, PoolMember } from '../managed.ts';
import type { CatalogModel } from '../model.ts';
import type { CatalogSurface } from '../surface.ts';

export interface ModelRules {
  routing: RoutingPolicy;
  /** Only routes of providers in it; null: of all. */
  region: string | null;
}

/** The setting of an organization that a rule is from. */
export type ModelRule = 'routing_policy' | 'data_residency_region';

/** An alias that is in the whole catalog and may not be used. */
export interface Withheld {
  rule: ModelRule;
  kind: ModelKind;
}

/** A catalog that rules have left, with what they took away. */
export interface RuledCatalog extends Catalog {
  withheld: ReadonlyMap<string, Withheld>;
  /** Surfaces that had providers, and may use none of them. */
  withheldSurfaces: ReadonlyMap<string, ModelRule>;
  /** All rules that it is under. */
  routing: RoutingPolicy;
}

/** How many different rules one catalog is kept under. */
const KEPT_MAX = 256;
const kept = new WeakMap<Catalog, Map<string, RuledCatalog>>();
const names = new WeakMap<ModelRules, string>();

/** The same rules give the same catalog, until the catalog is replaced. */
export function catalogUnder(catalog: Catalog, rules: ModelRules): RuledCatalog {
  const known = kept.get(catalog) ?? new Map<string, RuledCatalog>();
  kept.set(catalog, known);
  const name = names.get(rules) ?? nameOf(rules);
  names.set(rules, name);
  const found = known.get(name);
  if (found !== undefined) return found;
  const [oldest] = known.keys();
  if (known.size >= KEPT_MAX && oldest !== undefined) known.delete(oldest);
  const ruled = apply(catalog, rules);
  known.set(name, ruled);
  return ruled;
}

function nameOf({ routing, region }: ModelRules): string {
  const { allowedProviders, deniedProviders, allowedModels, deniedModels } = routing;
  const lists = [allowedProviders, deniedProviders, allowedModels, deniedModels];
  const sorted = lists.map((list) => (list === null ? null : [...list].sort()));
  return JSON.stringify([...sorted, routing.costPremiumMax, region]);
}

function apply(catalog: Catalog, rules: ModelRules): RuledCatalog {
  const before = isRuled(catalog) ? catalog : null;
  const withheld = new Map(before?.withheld);
  const { routing } = rules;
  const models = new Map<string, CatalogModel>();
  const left = new Map<string, CatalogModel>();
  for (const model of catalog.models.values()) {
    const leftOfIt = modelUnder(model, rules);
    if (leftOfIt !== null) left.set(model.alias, leftOfIt);
    const isNamed = allowsModel(routing, model.alias);
    if (isNamed && leftOfIt !== null) models.set(model.alias, leftOfIt);
    else {
      const rule = isNamed ? placeRule(model, rules) : 'routing_policy';
      withheld.set(model.alias, { rule, kind: model.kind });
    }
  }
  const routes = new Map<string, ManagedRoute>();
  for (const route of catalog.routes.values()) {
    const pool = poolUnder(route, rules, left);
    if (pool.length > 0) routes.set(route.alias, withPool(route, pool));
    else withheld.set(route.alias, { rule: ruleAgainstPool(route, rules), kind: route.kind });
  }
  const { snapshot } = catalog;
  const withheldSurfaces = new Map(before?.withheldSurfaces);
  const surfaces = snapshot.surfaces.map((surface) => {
    const left = surfaceUnder(surface, rules);
    if (left.targets.length === 0 && surface.targets.length > 0) {
      const upstreams = surface.targets.map(({ upstream }) => upstream);
      withheldSurfaces.set(surface.name, placeRule({ targets: upstreams }, rules));
    }
    return left;
  });
  return {
    ...catalog,
    snapshot: {
      ...snapshot,
      models: [...models.values()],
      routes: [...routes.values()],
      surfaces,
    },
    models,
    routes,
    withheld,
    withheldSurfaces,
    routing: narrowPolicy(before?.routing ?? openPolicy, routing),
  };
}

/** The same services, whose catalog is what the rules leave. Null: they forbid nothing. */
export function underRules<S extends { catalog(): Catalog }>(
  services: S,
  rules: readonly (ModelRules | null)[],
): S {
  const given = rules.filter((each) => each !== null);
  if (given.length === 0) return services;
  return { ...services, catalog: () => given.reduce(catalogUnder, services.catalog()) };
}

export function isRuled<C extends Pick<Catalog, 'snapshot'>>(
  catalog: C,
): catalog is C & RuledCatalog {
  return 'withheld' in catalog;
}

/** It stays without a target: it is known, and who asks for it is told why not. */
function surfaceUnder(surface: CatalogSurface, rules: ModelRules): CatalogSurface {
  const targets = surface.targets.filter(({ upstream }) => isPlaceAllowed(upstream, rules));
  return targets.length === surface.targets.length ? surface : { ...surface, targets };
}

/** Null: it had provider routes, and none of them is allowed. */
function modelUnder(model: CatalogModel, rules: ModelRules): CatalogModel | null {
  const targets = model.targets.filter((target) => isPlaceAllowed(target, rules));
  if (targets.length === model.targets.length) return model;
  if (targets.length === 0) return null;
  const { video } = model;
  if (video === null) return { ...model, targets };
  const isLeft = ({ routeId }: UpstreamTarget) => targets.some((each) => each.routeId === routeId);
  return { ...model, targets, video: { ...video, targets: video.targets.filter(isLeft) } };
}

function isPlaceAllowed({ publicName, region }: UpstreamTarget, rules: ModelRules): boolean {
  if (rules.region !== null && region !== rules.region) return false;
  // Without a name that policies may use it is on no list.
  if (publicName === undefined) return rules.routing.allowedProviders === null;
  return allowsProvider(rules.routing, publicName);
}

/** Whether the place is what forbids it, or the list of providers. */
function placeRule({ targets }: Pick<CatalogModel, 'targets'>, { region }: ModelRules): ModelRule {
  const isElsewhere = region !== null && targets.every((target) => target.region !== region);
  return isElsewhere ? 'data_residency_region' : 'routing_policy';
}

/**
 * A managed route that is named itself may choose of its whole pool; else the lists choose of it.
 * One that is denied may choose nothing.
 */
function poolUnder(
  { alias, pool }: ManagedRoute,
  { routing }: ModelRules,
  left: ReadonlyMap<string, CatalogModel>,
): PoolMember[] {
  if (routing.deniedModels.has(alias)) return [];
  const isNamed = routing.allowedModels?.has(alias) === true;
  return pool.flatMap((member) => {
    const { alias: name } = member.model;
    const isAllowed = isNamed ? !routing.deniedModels.has(name) : allowsModel(routing, name);
    const model = isAllowed ? left.get(name) : undefined;
    return model === undefined ? [] : [{ ...member, model }];
  });
}

function withPool(route: ManagedRoute, pool: PoolMember[]): ManagedRoute {
  const isWhole =
    pool.length === route.pool.length &&
    pool.every(({ model }, index) => model === route.pool[index]?.model);
  if (isWhole) return route;
  const available = pool.some(({ model }) => model.public.available);
  return { ...route, pool, public: { ...route.public, available } };
}

function ruleAgainstPool({ alias, pool }: ManagedRoute, rules: ModelRules): ModelRule {
  if (rules.routing.deniedModels.has(alias)) return 'routing_policy';
  const isElsewhere = pool.every(
    ({ model }) => placeRule(model, rules) === 'data_residency_region',
  );
  return isElsewhere ? 'data_residency_region' : 'routing_policy';
}
