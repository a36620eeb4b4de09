// Records of surfaces as shards use them: targets resolved, prices in microcredits, ages filled in.
import { createHash } from 'node:crypto';
import { servesSurface } from '../../../media/providers/search/families.ts';
import {
  factsOf,
  isSurfaceName,
  type ServedSurface,
  type SurfaceName,
} from '../../../media/search/surfaces.ts';
import { parseDecimal } from '../../wallet/price.ts';
import type { CatalogDocument, ProviderRecord, SurfaceRecord } from '../document.ts';
import type { Canary, CatalogSurface, SearchTarget } from '../surface.ts';
import { upstreamTarget } from '../target.ts';

/** Where `web_answer` looks unless its record says otherwise. */
const usualSearchSurface: ServedSurface = 'web_search';

type Providers = ReadonlyMap<string, ProviderRecord>;

/** Enabled surfaces in the order of their records. */
export function buildSurfaces(document: CatalogDocument, providers: Providers): CatalogSurface[] {
  const enabled = document.surfaces.filter((surface) => surface.enabled);
  const targets = new Map(
    enabled.map((record) => [record.name, targetsOf(record, providers, document.credits_per_usd)]),
  );
  return enabled.map((record) => buildSurface(record, targets, document.credits_per_usd));
}

/** As it would be with nothing disabled; null: there is no such record. */
export function surfaceAsEnabled(document: CatalogDocument, name: string): CatalogSurface | null {
  const surfaces = document.surfaces.map((record) => ({ ...record, enabled: true }));
  const providers = document.providers.map((record) => ({ ...record, enabled: true }));
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  const built = buildSurfaces({ ...document, surfaces }, byName);
  return built.find((surface) => surface.name === name) ?? null;
}

function buildSurface(
  record: SurfaceRecord,
  targetsByName: ReadonlyMap<string, readonly SearchTarget[]>,
  creditsPerUsd: number,
): CatalogSurface {
  const { name } = record;
  const facts = isSurfaceName(name) ? factsOf(name) : null;
  const searchSurface = searchSurfaceOf(record);
  const targets = searchSurface === null ? [] : (targetsByName.get(searchSurface) ?? []);
  const answerModel = writesAnswers(name) ? (record.answer_model ?? null) : null;
  return {
    name,
    displayName: record.display_name,
    kind: facts?.kind ?? null,
    version: versionOf([name, searchSurface, answerModel, targets.map(placeOf)]),
    targets,
    priceMicros: facts === null ? null : priceMicrosOf(record, creditsPerUsd),
    perSearchCall: record.price?.per_search_call ?? null,
    maxAgeSeconds: record.cache?.max_age_seconds ?? facts?.ageSeconds ?? 0,
    isShared: record.cache?.scope === 'shared',
    requestsPerMinute: record.requests_per_minute ?? null,
    answerModel,
    searchSurface,
    canary: canaryOf(record),
  };
}

/** The surface whose providers serve it; null where the name is only displayed. */
function searchSurfaceOf({ name, search_surface: named }: SurfaceRecord): SurfaceName | null {
  if (!isSurfaceName(name)) return null;
  if (name !== 'web_answer') return name;
  return named !== undefined && isSurfaceName(named) ? named : usualSearchSurface;
}

export function writesAnswers(name: string): boolean {
  return name === 'web_answer' || name === 'ai_search';
}

/** Who serves it as the record says it: a provider alone is one target. */
export function namedTargets({ provider, targets }: SurfaceRecord) {
  if (targets !== undefined) return targets;
  return provider === undefined ? [] : [{ provider }];
}

/** None of a disabled provider, nor of one that has no such search. */
function targetsOf(
  record: SurfaceRecord,
  providers: Providers,
  creditsPerUsd: number,
): SearchTarget[] {
  const { name } = record;
  if (!isSurfaceName(name) || name === 'web_answer') return [];
  return namedTargets(record).flatMap(({ provider, cost_usd: cost = '0' }) => {
    const found = providers.get(provider);
    if (found === undefined || !found.enabled) return [];
    if (!servesSurface(found.family, name)) return [];
    const upstream = upstreamTarget(found, name);
    const costMicros = microsOf(cost, creditsPerUsd);
    return [{ upstream, costMicros, simulated: found.simulated === true }];
  });
}

function placeOf({ upstream: { routeId, family, baseUrl } }: SearchTarget) {
  return [routeId, family, baseUrl];
}

/** No credential is part of it: another key finds the same. */
function versionOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/** Null: the record names no price. */
export function priceMicrosOf({ price = {} }: SurfaceRecord, creditsPerUsd: number): bigint | null {
  const { credits_per_query: credits, per_search_call: dollars } = price;
  if (credits !== undefined) return microsOf(credits, 1);
  return dollars === undefined ? null : microsOf(dollars, creditsPerUsd);
}

/** Rounded up to a microcredit. */
function microsOf(decimal: string, factor: number): bigint {
  const { digits, scale } = parseDecimal(decimal);
  const divisor = 10n ** BigInt(scale);
  return (digits * BigInt(factor) * 1_000_000n + divisor - 1n) / divisor;
}

function canaryOf({ canary }: SurfaceRecord): Canary | null {
  if (canary === undefined) return null;
  const { query, params = {}, expect_host: expectHost, every_minutes: everyMinutes } = canary;
  return { query, params, expectHost, everyMinutes };
}

/** Whether it is offered for queries, whatever its providers do at the moment. */
export function isOffered({ priceMicros, targets }: CatalogSurface): boolean {
  return priceMicros !== null && targets.length > 0;
}

/** What anybody may know of it: the content version goes by this. */
export function publicSurface(surface: CatalogSurface) {
  const { name, displayName, kind, priceMicros } = surface;
  const price = priceMicros === null ? null : creditsText(priceMicros);
  return { name, displayName, kind, isOffered: isOffered(surface), price };
}

/** Microcredits as credits: `1.5`, `0.000001`. */
export function creditsText(micros: bigint): string {
  const fraction = String(micros % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const whole = String(micros / 1_000_000n);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
