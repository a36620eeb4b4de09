// The catalog as shards use it: plain data, resolved once, replaced whole. Its content version is a
// hash of what the public may see of it, so that equal catalogs have equal versions everywhere.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { toolTypeOf } from '../../media/model/hosted-tools.ts';
import type { VideoAbilities } from '../../media/model/video.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { ModelKind } from '../../media/providers/model-kinds.ts';
import type { VideoTarget } from '../../media/providers/video/contract.ts';
import { defaultIdentitySettings, type IdentitySettings } from '../identity/settings.ts';
import type { OAuthClient } from '../oauth/client.ts';
import type { OrganizationDefaults } from '../organization/defaults.ts';
import { type CompiledCard, compileCard, type PriceCard } from '../wallet/price.ts';
import {
  publicCallRates,
  publicRates,
  publicUnitRates,
  publicVideoRates,
} from '../wallet/public-rates.ts';
import {
  type BillingRecord,
  billingRecordSchema,
  type CatalogDocument,
  type IdentityRecord,
  type ModelRecord,
  type OAuthClientRecord,
  organizationDefaultsSchema,
  type PriceMembers,
  type PriceRecord,
  type ProviderRecord,
  type SurfaceRecord,
} from './document.ts';
import { buildManagedRoutes, type ManagedRoute } from './managed.ts';
import type { CatalogModel, CreationTime, PublicModel, TokensPerSecond } from './model.ts';
import { buildPaymentProvider, type PaymentProvider } from './payments/provider.ts';
import { buildSurfaces, publicSurface } from './surface/build.ts';
import type { CatalogSurface } from './surface.ts';
import { upstreamTarget } from './target.ts';
import { abilitiesOf, publicVideo, videoTarget } from './video.ts';

export interface CatalogSnapshot {
  contentVersion: string;
  creditsPerUsd: number;
  models: CatalogModel[];
  routes: ManagedRoute[];
  packages: CatalogDocument['packages'];
  /** Enabled ones in the order of their records, also those that are only displayed. */
  surfaces: readonly CatalogSurface[];
  /** Routes of all video models, disabled ones too: what was submitted there has to end. */
  videoTargets: VideoTarget[];
  /** OAuth clients, disabled ones too. */
  clients: readonly OAuthClient[];
  identity: IdentitySettings;
  /** Payment providers by name, disabled ones too: what they have sold is still followed. */
  payments: readonly PaymentProvider[];
  /** Codes, disabled ones too: they have to be known as had. */
  promotions: CatalogDocument['promotions'];
  /** Disabled ones too: what was handed in goes on. */
  rewardTasks: CatalogDocument['reward_tasks'];
  billing: BillingRecord;
  organizations: OrganizationDefaults;
}

/** The secrets of OAuth clients by client id. */
export type ClientSecrets = ReadonlyMap<string, OAuthClient['secrets']>;

/** Resolves a checked document. Throws on dangling references: they are refused before. */
export function buildSnapshot(
  document: CatalogDocument,
  created: CreationTime,
  secrets: ClientSecrets = new Map(),
): CatalogSnapshot {
  const providers = new Map(document.providers.map((provider) => [provider.name, provider]));
  const prices = new Map(document.prices.map((card) => [card.name, card]));
  const surfaces = buildSurfaces(document, providers);
  const webSearch = document.surfaces.find(({ name, enabled }) => enabled && name === 'web_search');
  const models = document.models
    .filter((model) => model.enabled)
    .map((model) => {
      const card = cardOf(model, prices, document, webSearch);
      return buildModel(model, providers, card, created('models', model.alias));
    });
  const routes = buildManagedRoutes(document.routes, models, created);
  const packages = document.packages.filter((entry) => entry.active);
  const entries = publicEntries({ models, routes });
  const { credits_per_usd: creditsPerUsd } = document;
  const offered = surfaces.map(publicSurface);
  const content = JSON.stringify([entries, packages, offered, creditsPerUsd]);
  return {
    contentVersion: createHash('sha256').update(content).digest('hex').slice(0, 16),
    creditsPerUsd,
    models,
    routes,
    packages,
    surfaces,
    videoTargets: allVideoTargets(document.models, providers),
    clients: document.oauth_clients.map((record) => buildClient(record, secrets)),
    identity: buildIdentity(document.identity[0]),
    payments: document.payment_providers.map(buildPaymentProvider),
    promotions: document.promotions,
    rewardTasks: document.reward_tasks,
    billing: document.billing[0] ?? v.parse(billingRecordSchema, {}),
    organizations: document.organizations[0] ?? v.parse(organizationDefaultsSchema, {}),
  };
}

/** A client that became public had secrets, which are good no more. */
function buildClient(record: OAuthClientRecord, secrets: ClientSecrets): OAuthClient {
  const isPublic = record.type === 'public';
  return {
    id: record.name,
    displayName: record.display_name,
    type: record.type,
    redirectUris: record.redirect_uris,
    grants: record.grants,
    scopes: record.scopes,
    refreshGraceSeconds: record.refresh_grace_seconds,
    firstParty: record.first_party,
    enabled: record.enabled,
    secrets: isPublic ? [] : (secrets.get(record.name) ?? []),
    documentHost: null,
  };
}

function buildIdentity(record: IdentityRecord | undefined): IdentitySettings {
  if (record === undefined) return defaultIdentitySettings;
  return {
    signup: record.signup,
    emailDomains: record.email_domains,
    termsUrl: record.terms_url,
    termsVersion: record.terms_version,
    clientDocuments: record.client_documents,
    clientDocumentHosts: record.client_document_hosts,
  };
}

function allVideoTargets(
  models: readonly ModelRecord[],
  providers: ReadonlyMap<string, ProviderRecord>,
): VideoTarget[] {
  return models
    .filter(({ kind }) => kind === 'video')
    .flatMap(({ routes }) => routes)
    .flatMap(({ provider: name, upstream_model: upstreamModel }) => {
      const provider = providers.get(name);
      if (provider === undefined) return [];
      return [videoTarget(upstreamTarget(provider, upstreamModel), provider)];
    });
}

function buildModel(
  model: ModelRecord,
  providers: Map<string, ProviderRecord>,
  card: CompiledCard,
  createdAt: number,
): CatalogModel {
  const declared = model.routes.map((route) => {
    const provider = providers.get(route.provider);
    if (provider === undefined) throw new Error(`catalog: no provider ${route.provider}`);
    return { provider, upstreamModel: route.upstream_model };
  });
  const running = declared
    .filter(({ provider }) => provider.enabled)
    .map(({ provider, upstreamModel }) => {
      return { provider, target: upstreamTarget(provider, upstreamModel) };
    });
  const targets = running.map(({ target }) => target);
  const available = targets.length > 0;
  const isText = model.kind === 'generation';
  const hostedTools = isText ? hostedToolsOf(model, card) : [];
  const capabilities = isText ? [...new Set(model.capabilities)] : [mediumOf(model.kind)];
  const video = videoOf(model, running);
  return {
    alias: model.alias,
    createdAt,
    kind: model.kind,
    targets,
    card,
    outputTokensMax: model.output_tokens_max,
    contextWindow: model.context_window,
    capabilities,
    hostedTools,
    voices: model.voices ?? {},
    tokensPerSecondMax: tokensPerSecond(model),
    video,
    simulated: declared.every(({ provider }) => provider.simulated === true),
    public: {
      alias: model.alias,
      display_name: model.display_name ?? model.alias,
      provider: 'svc',
      available,
      supports_streaming: isText && available,
      ...publicRates(card),
      ...publicUnitRates(card),
      capabilities,
      context_window: model.context_window,
      ...publicCallRates(card, hostedTools),
      ...(video === null ? {} : publicVideoMembers(video.abilities, card)),
    },
  };
}

/** The capability of a model that writes no text. */
function mediumOf(kind: ModelKind): string {
  return kind === 'video' ? 'video' : 'audio';
}

function videoOf(
  { kind, video }: ModelRecord,
  running: readonly { provider: ProviderRecord; target: UpstreamTarget }[],
): CatalogModel['video'] {
  if (kind !== 'video' || video === undefined) return null;
  const targets = running.map(({ provider, target }) => videoTarget(target, provider));
  return { abilities: abilitiesOf(video), targets };
}

/** Rows of a shared card may be of what the model does not make: they are no prices of it. */
function publicVideoMembers(abilities: VideoAbilities, card: CompiledCard) {
  const { resolutions, audio } = abilities;
  const rates = publicVideoRates(card).filter(
    (row) => resolutions[row.resolution] !== undefined && (row.audio !== true || audio !== 'never'),
  );
  return { video_rates: rates, video: publicVideo(abilities) };
}

/** A tool passes if it has a price, unless the record names fewer. */
function hostedToolsOf({ hosted_tools: named }: ModelRecord, card: CompiledCard): string[] {
  const priced = Object.keys(card.givenCalls);
  if (named === undefined) return priced;
  const types = new Set(named.map(toolTypeOf));
  return priced.filter((type) => types.has(type));
}

function tokensPerSecond({ tokens_per_second_max: most }: ModelRecord): TokensPerSecond | null {
  if (most === undefined) return null;
  return {
    audioInput: most.audio_input,
    textInput: most.text_input,
    audioOutput: most.audio_output,
    textOutput: most.text_output,
  };
}

function cardOf(
  model: ModelRecord,
  prices: ReadonlyMap<string, PriceRecord>,
  document: CatalogDocument,
  webSearch: SurfaceRecord | undefined,
): CompiledCard {
  const card = typeof model.price === 'string' ? prices.get(model.price) : model.price;
  if (card === undefined) throw new Error(`catalog: no price card ${model.price}`);
  // A model that names no price for a search has that of the surface.
  const { per_search_call } = webSearch?.price ?? {};
  const searched = { ...(per_search_call === undefined ? {} : { per_search_call }), ...card };
  return readyCard(searched, document.credits_per_usd);
}

/** A card as it is declared, ready to price with. */
export function readyCard(
  declared: PriceMembers | PriceRecord,
  creditsPerUsd: number,
): CompiledCard {
  const { name: _name, ...card } = { name: '', ...declared };
  // The schema leaves absent members out; only its type says that they may be undefined.
  return compileCard(card as PriceCard, String(creditsPerUsd));
}

/** Exact models and managed routes that can be called, for the model lists of `/v1`. */
export function callableEntries(snapshot: CatalogSnapshot): (CatalogModel | ManagedRoute)[] {
  return [...snapshot.models, ...snapshot.routes].filter((entry) => entry.public.available);
}

/** What the public may see: exact models first, then managed routes. */
export function publicEntries(snapshot: Pick<CatalogSnapshot, 'models' | 'routes'>): PublicModel[] {
  return [...snapshot.models, ...snapshot.routes].map((entry) => entry.public);
}
