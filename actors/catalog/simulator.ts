// The simulator's providers and models, which development mode declares. The managed routes of the
// specification choose among all models that it has.
import type { UpstreamQuirks } from '../../media/providers/generation/contract.ts';
import { type SimulatedModel, simulatedProviders } from '../../media/providers/simulated.ts';
import type { CatalogDocument, ModelRecord, ProviderRecord } from './document.ts';
import { addSearch } from './surface/simulated.ts';

const simulatedPrice = {
  input_per_million: '2.50',
  cached_input_per_million: '0.25',
  output_per_million: '10.00',
  // A search without a price would not pass.
  per_search_call: '0',
};
const simulatedTier = {
  min_input_tokens: 1_001,
  input_per_million: '5.00',
  cached_input_per_million: '0.50',
  output_per_million: '20.00',
};

/** The models of decisions.md, section 9, but those that the file declares: their aliases. */
export function addSimulator(document: CatalogDocument, simulatorUrl: string): string[] {
  const aliases: string[] = [];
  for (const { name, family, basePath, quirks, models } of simulatedProviders) {
    document.providers.push({
      name,
      family,
      base_url: simulatorUrl + basePath,
      quirks: quirksRecord(quirks),
      simulated: true,
      enabled: true,
    });
    for (const model of models) {
      // What the file declares by such a name goes first.
      if (document.models.some(({ alias }) => alias === model.alias)) continue;
      aliases.push(model.alias);
      document.models.push(simulatedRecord(name, model));
    }
  }
  addSearch(document, simulatorUrl, aliases);
  document.packages.push({
    slug: 'starter',
    name: 'Starter',
    credits: 1_000,
    price_usd: '10.00',
    prices: { inr: 85_000 },
    active: true,
  });
  return aliases;
}

function simulatedRecord(provider: string, model: SimulatedModel): ModelRecord {
  const named = {
    alias: model.alias,
    display_name: model.displayName,
    kind: model.kind,
    routes: [{ provider, upstream_model: model.upstreamModel }],
    output_tokens_max: 4_096,
    enabled: true,
  };
  if (model.kind === 'generation') {
    return {
      ...named,
      price: model.tiered ? { ...simulatedPrice, pricing_tiers: [simulatedTier] } : simulatedPrice,
      context_window: 128_000,
      capabilities: [...model.capabilities],
    };
  }
  if (model.kind === 'video') {
    const { price, contextWindow, video } = model;
    return { ...named, price, context_window: contextWindow, capabilities: ['video'], video };
  }
  const { price, contextWindow, voices, tokensPerSecondMax } = model;
  return {
    ...named,
    price,
    context_window: contextWindow,
    capabilities: ['audio'],
    ...(voices === undefined ? {} : { voices }),
    ...(tokensPerSecondMax === undefined ? {} : { tokens_per_second_max: tokensPerSecondMax }),
  };
}

const generationRoutes = [
  ['svc-intelligent', 'Intelligent', 'always'],
  ['svc-coder', 'Coder', 'always'],
  ['svc-intelligent-direct', 'Intelligent, original context', 'never'],
  ['svc-coder-direct', 'Coder, original context', 'never'],
  ['svc-video-analysis', 'Video analysis', 'never'],
] as const;
const analysisAlias = 'svc-video-analysis';

/** Simulated models are as good as each other, and answer where no real one can. */
const simulatedQuality = 50;
const realQuality = 60;
/** The most of a pool (`document.ts`). */
const poolMax = 64;
/** Runners list models beside those that write. */
const writesNoText = /embed|rerank/;

/** The managed routes of the specification; what the file declares by such a name goes first. */
export function addManagedRoutes(
  document: CatalogDocument,
  simulated: readonly string[],
  real: readonly string[],
): void {
  const taken = new Set([...document.routes, ...document.models].map(({ alias }) => alias));
  const models = new Map(document.models.map((model) => [model.alias, model]));
  const ofKind = (kind: ModelRecord['kind'], aliases: readonly string[]) =>
    aliases.filter((alias) => models.get(alias)?.kind === kind);
  const member = (model: string, quality: number) => ({ model, quality, qualities: {} });
  const writing = ofKind('generation', real).filter((alias) => !writesNoText.test(alias));
  const text = [
    ...ofKind('generation', simulated).map((model) => member(model, simulatedQuality)),
    ...writing.map((model) => member(model, realQuality)),
  ];
  const seeing = text.filter(({ model }) => models.get(model)?.capabilities.includes('vision'));
  const video = ofKind('video', simulated).map((model) => member(model, simulatedQuality));
  const add = (route: CatalogDocument['routes'][number]) => {
    if (!taken.has(route.alias) && route.pool.length > 0) document.routes.push(route);
  };
  for (const [alias, display_name, optimizer] of generationRoutes) {
    const pool = (alias === analysisAlias ? seeing : text).slice(0, poolMax);
    add({ alias, display_name, pool, optimizer, enabled: true });
  }
  const pool = video.slice(0, poolMax);
  const named = { alias: 'svc-video', display_name: 'Video' };
  add({ ...named, kind: 'video', pool, optimizer: 'never', enabled: true });
}

export function quirksRecord(
  quirks: Partial<UpstreamQuirks>,
): NonNullable<ProviderRecord['quirks']> {
  const { obfuscationSwitch, outputCeiling, customTools } = quirks;
  return {
    ...(obfuscationSwitch === undefined ? {} : { obfuscation_switch: obfuscationSwitch }),
    ...(outputCeiling === undefined ? {} : { output_ceiling: outputCeiling }),
    ...(customTools === undefined ? {} : { custom_tools: customTools }),
  };
}
