// Managed routes as shards use them: aliases over a pool of exact models, and what the public may
// see of one. A pool's disabled models are left out; a route with none left is not in the catalog.
import type { TaskCategory } from '../../media/model/choose/category.ts';
import { type PublicPrices, type PublicRates, publicRates } from '../wallet/public-rates.ts';
import type { ManagedRouteRecord } from './document.ts';
import type { CatalogModel, CreationTime, PublicModel } from './model.ts';
import { pooledVideo } from './video.ts';

export interface PoolMember {
  model: CatalogModel;
  /** 0 to 100. */
  quality: number;
  /** Where it differs from `quality`. */
  qualities: Partial<Record<TaskCategory, number>>;
}

export type RouteKind = NonNullable<ManagedRouteRecord['kind']>;

export interface ManagedRoute {
  alias: string;
  /** Its pool has models of this kind alone. */
  kind: RouteKind;
  /** Unix seconds. */
  createdAt: number;
  pool: PoolMember[];
  optimizer: 'always' | 'never';
  /** How much dearer than the cheapest a candidate may be, as a fraction (0.5: half); or null. */
  costPremiumMax: number | null;
  /** Every model of the pool is simulated. */
  simulated: boolean;
  public: PublicModel;
}

/** Which models the pool of a route has. */
export function routeKind({ kind }: Pick<ManagedRouteRecord, 'kind'>): RouteKind {
  return kind ?? 'generation';
}

/** Resolves the routes over the enabled models. A model of the same name hides a route. */
export function buildManagedRoutes(
  records: readonly ManagedRouteRecord[],
  models: readonly CatalogModel[],
  created: CreationTime,
): ManagedRoute[] {
  const byAlias = new Map(models.map((model) => [model.alias, model]));
  return records
    .filter((record) => record.enabled && !byAlias.has(record.alias))
    .map((record) => buildManagedRoute(record, byAlias, created('routes', record.alias)))
    .filter((route) => route.pool.length > 0);
}

function buildManagedRoute(
  record: ManagedRouteRecord,
  models: ReadonlyMap<string, CatalogModel>,
  createdAt: number,
): ManagedRoute {
  const pool = record.pool.flatMap((member): PoolMember[] => {
    const { quality } = member;
    const model = models.get(member.model);
    // The schema leaves absent members out; only its type says that they may be undefined.
    const qualities = member.qualities as PoolMember['qualities'];
    return model === undefined ? [] : [{ model, quality, qualities }];
  });
  const premiumPercent = record.cost_guard?.max_cost_premium_percent;
  const members = pool.map(({ model }) => model);
  return {
    alias: record.alias,
    kind: routeKind(record),
    createdAt,
    pool,
    optimizer: record.optimizer,
    costPremiumMax: premiumPercent === undefined ? null : premiumPercent / 100,
    simulated: members.every((model) => model.simulated),
    public: publicEntry(record, members),
  };
}

function publicEntry(record: ManagedRouteRecord, members: readonly CatalogModel[]): PublicModel {
  return {
    alias: record.alias,
    display_name: record.display_name ?? record.alias,
    provider: 'svc',
    available: members.some((model) => model.public.available),
    supports_streaming: members.some((model) => model.public.supports_streaming),
    ...commonPrices(members.map((model) => publicRates(model.card))),
    capabilities: [...new Set(members.flatMap((model) => model.capabilities))],
    context_window: Math.max(0, ...members.map((model) => model.contextWindow)),
    ...(routeKind(record) === 'video' ? pooledVideo(members.flatMap(asPooled)) : {}),
  };
}

function asPooled({ video, public: entry }: CatalogModel) {
  return video === null ? [] : [{ abilities: video.abilities, public: entry }];
}

/** What all have in common: a rate that differs is null, in every tier that any of them has. */
function commonPrices(prices: readonly PublicPrices[]): PublicPrices {
  const thresholds = prices.flatMap((price) =>
    price.pricing_tiers.map((tier) => tier.min_input_tokens),
  );
  const ascending = [...new Set(thresholds)].sort((left, right) => left - right);
  return {
    ...commonRates(prices),
    pricing_tiers: ascending.map((tokens) => ({
      min_input_tokens: tokens,
      ...commonRates(prices.map((price) => ratesFrom(price, tokens))),
    })),
  };
}

function commonRates(rates: readonly PublicRates[]): PublicRates {
  const common = (name: keyof PublicRates): number | null => {
    const [first] = rates;
    if (first === undefined) return null;
    return rates.every((entry) => entry[name] === first[name]) ? first[name] : null;
  };
  return {
    credits_per_million_input: common('credits_per_million_input'),
    credits_per_million_cached_input: common('credits_per_million_cached_input'),
    credits_per_million_output: common('credits_per_million_output'),
  };
}

/** The rates of a request with this many input tokens. Tiers stand in ascending order. */
function ratesFrom(price: PublicPrices, inputTokens: number): PublicRates {
  return price.pricing_tiers.findLast((tier) => inputTokens >= tier.min_input_tokens) ?? price;
}
