// The catalog as an operator declares it (TOLLGATE_CONFIG) and an administrator changes it: one
// schema for both. Closed objects: a misspelt member is refused with its path.
import * as v from 'valibot';
import { type TaskCategory, taskCategories } from '../../media/model/choose/category.ts';
import { videoResolutions } from '../../media/model/video.ts';
import { modelFamilyNames, modelKinds } from '../../media/providers/model-kinds.ts';
import { searchFamilyNames } from '../../media/providers/search/families.ts';
import { regions } from '../../runtime/config.ts';
import { lineOfText, visibleAscii } from '../../runtime/http/text.ts';
import { organizationDefaultEntries, organizationDefaultsName } from '../organization/defaults.ts';
import { identityEntries, identityRecordName, oauthClientEntries } from './identity-members.ts';
import { packagePrices, paymentProviderEntries } from './payments/members.ts';
import {
  billingEntries,
  billingRecordName,
  creditsMax,
  promotionEntries,
  rewardTaskEntries,
} from './promotions/members.ts';
import {
  credits,
  surfaceCache,
  surfaceCanary,
  surfaceRequestsPerMinute,
  surfaceTargetsMax,
} from './surface/members.ts';
import { mediaHost, mediaHostsMax, videoRatesMax, videoSchema } from './video/members.ts';

const nameCharacters = 'digits, dots, _ and - (at most 80, the first a letter or a digit)';
const name = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9._-]{0,79}$/, `expected small letters, ${nameCharacters}`),
);
/** What callers name as `model`: case matters. */
const alias = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/, `expected letters, ${nameCharacters}`),
);
const decimalPlaces = 12;
const decimalPattern = /^\d{1,9}(\.\d{1,12})?$/;
const decimal = v.pipe(v.string(), v.regex(decimalPattern, 'expected a decimal such as 2.50'));
/**
 * Exact prices are decimal strings; the specification's tiers have numbers. Strings are kept. Of a
 * number below the last place nothing would be left, and what it is the price of would be free.
 */
const price = v.pipe(
  v.union([
    decimal,
    v.literal(0),
    v.pipe(v.number(), v.minValue(10 ** -decimalPlaces), v.maxValue(999_999_999)),
  ]),
  v.title('Dollars'),
  v.description('US dollars: a decimal string, or a number, which is kept as one.'),
  v.transform(decimalOf),
);
/** No user in it: a credential has its own member, which is sealed. */
const httpUrl = v.pipe(
  v.string(),
  v.maxLength(2_000),
  v.regex(
    /^https?:\/\/[\x21\x22\x24-\x2e\x30-\x3e\x41-\x7e]+[\x21-\x3f\x41-\x7e]*$/,
    'expected an http or https URL in visible ASCII characters',
  ),
);
/** A number as it was written; what only arithmetic gives (0.1 + 0.2) is rounded. */
function decimalOf(value: string | number): string {
  if (typeof value === 'string') return value;
  const shortest = String(value);
  return decimalPattern.test(shortest) ? shortest : value.toFixed(decimalPlaces);
}

const tokens = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000_000));

const memberName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z][A-Za-z0-9_-]{0,79}$/, 'expected the name of a member, such as guided_json'),
);
const toolTypesMax = 50;
/** As clients declare it, with its version or without. */
const toolType = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9_:.-]{0,79}$/, 'expected the type of a tool, such as code_interpreter'),
);

const rates = {
  input_per_million: v.optional(price),
  cached_input_per_million: v.optional(price),
  cache_write_per_million: v.optional(price),
  output_per_million: v.optional(price),
  reasoning_per_million: v.optional(price),
};

/** The first four per million tokens. Of generation models only `audio_input` has a meaning. */
const unitRates = {
  audio_input: v.optional(price),
  text_input: v.optional(price),
  audio_output: v.optional(price),
  text_output: v.optional(price),
  per_1k_characters: v.optional(price),
  per_audio_minute: v.optional(price),
  /** Without a row of `video_rates`. */
  per_second_of_video: v.optional(price),
};

const priceCard = {
  ...rates,
  ...unitRates,
  /**
   * It is for what a provider's cache keeps for an hour (`ttl: "1h"` of Messages). No member of
   * tiers, which are closed: there it is as much dearer as the tier's cache-write is.
   */
  cache_write_1h_per_million: v.optional(price),
  per_search_call: v.optional(price),
  /** The most specific row counts: a resolution with or without sound, then a resolution. */
  video_rates: v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          resolution: v.picklist(videoResolutions),
          /** With sound, or without; omitted: both. */
          audio: v.optional(v.boolean()),
          per_second_of_video: price,
        }),
      ),
      v.maxLength(videoRatesMax),
    ),
  ),
  /** Tools that the provider runs and bills beside tokens, by their type. */
  per_tool_call: v.optional(v.pipe(v.record(toolType, price), v.maxEntries(toolTypesMax))),
  pricing_tiers: v.optional(
    v.pipe(v.array(v.strictObject({ min_input_tokens: tokens, ...rates })), v.maxLength(32)),
  ),
};

/** In US dollars; omitted rates inherit: cached and cache-write from input, 1h from cache-write. */
const priceCardSchema = v.strictObject(priceCard);

/** A card that models refer to by its name. */
export const priceSchema = v.strictObject({ name, ...priceCard });

export const providerSchema = v.strictObject({
  name,
  /** The wire format: a family of media/providers. */
  family: v.picklist([...modelFamilyNames, ...searchFamilyNames]),
  /** With the version prefix, as in `https://api.example.com/v1`. */
  base_url: httpUrl,
  api_key: v.optional(visibleAscii(4_000)),
  quirks: v.optional(
    v.strictObject({
      obfuscation_switch: v.optional(v.boolean()),
      /** The member for the ceiling of the answer, whatever the client calls it. */
      output_ceiling: v.optional(v.picklist(['max_tokens', 'max_completion_tokens'])),
      /** Where its templates want instructions that stand between turns. */
      system_messages: v.optional(v.picklist(['in_place', 'first', 'as_user'])),
      custom_tools: v.optional(v.boolean()),
      /** Refuses members that it does not know: it is told few. */
      strict_members: v.optional(v.boolean()),
    }),
  ),
  /**
   * Members of requests that pass to it as they are, beside those that pass to every server of its
   * format. What could choose another model, route, template or price never does.
   */
  forward_members: v.optional(v.pipe(v.array(memberName), v.maxLength(100))),
  /** Hosts that the files of videos come from, beside its own: patterns such as `*.example.com`. */
  media_hosts: v.optional(v.pipe(v.array(mediaHost), v.maxLength(mediaHostsMax))),
  /** Videos that it makes at once, 10 if omitted. */
  jobs_max: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000))),
  /**
   * What becomes of a submission without an answer. `list`: it is looked up. `key`: it is repeated
   * under the job's id, which the server must honour. Omitted: `list` where the format has one.
   */
  idempotency: v.optional(v.picklist(['none', 'list', 'key'])),
  /** Where it processes data. One without is in no region that an organization insists on. */
  region: v.optional(v.picklist(regions)),
  /** What organizations name it by in their policies; one without is on no list that allows. */
  public_name: v.optional(lineOfText(120)),
  simulated: v.optional(v.boolean()),
  /** A disabled provider is called by no model; its models keep their other routes. */
  enabled: v.optional(v.boolean(), true),
});

export const capabilities = [
  'chat',
  'tools',
  'vision',
  'structured_output',
  'web_search',
  'reasoning',
  'audio',
  'video',
] as const;

const tokensPerSecond = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000));

export const modelSchema = v.strictObject({
  alias,
  display_name: v.optional(lineOfText(120)),
  /** What the model is for: its routes are of families that can do that. */
  kind: v.optional(v.picklist(modelKinds), 'generation'),
  /** In order of preference; the next one is tried when one fails before its first delta. */
  routes: v.pipe(
    v.array(
      v.strictObject({
        provider: name,
        upstream_model: visibleAscii(200),
      }),
    ),
    v.minLength(1),
    v.maxLength(32),
  ),
  /** Its own card, or the name of one. */
  price: v.union([name, priceCardSchema]),
  context_window: v.optional(tokens, 128_000),
  /** The most that a request may ask for, and what it gets when it asks for nothing. */
  output_tokens_max: v.optional(tokens, 4_096),
  /**
   * A generation model has these; one of video has `video`, the others `audio`. A client's budget
   * to think is told to models with `reasoning` alone.
   */
  capabilities: v.optional(v.array(v.picklist(capabilities)), ['chat']),
  /**
   * The tools that pass, of those that the provider runs and bills beside tokens. Each has a price
   * on the card. Omitted: all that have one pass.
   */
  hosted_tools: v.optional(v.pipe(v.array(toolType), v.maxLength(toolTypesMax))),
  /** Of voice and speech models: the voices that callers name, with the upstream's names. */
  voices: v.optional(v.pipe(v.record(name, visibleAscii(200)), v.maxEntries(100))),
  /** What a video model can make; no other has it. */
  video: v.optional(videoSchema),
  /** Of voice models: the most that a second of a session may use, for its hold. */
  tokens_per_second_max: v.optional(
    v.strictObject({
      audio_input: tokensPerSecond,
      text_input: tokensPerSecond,
      audio_output: tokensPerSecond,
      text_output: tokensPerSecond,
    }),
  ),
  enabled: v.optional(v.boolean(), true),
});

const quality = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100));

const qualities = Object.fromEntries(
  taskCategories.map((category) => [category, v.optional(quality)]),
) as Record<TaskCategory, v.OptionalSchema<typeof quality, undefined>>;

export const managedRouteSchema = v.strictObject({
  alias,
  display_name: v.optional(lineOfText(120)),
  /**
   * What it is asked for; omitted: generation. Its pool has models of this kind alone. There is no
   * default, so that builds which know no such member understand the records without it.
   */
  kind: v.optional(v.picklist(['generation', 'video'])),
  /** Exact aliases that the route may choose, with how good each is, 0 to 100. */
  pool: v.pipe(
    v.array(
      v.strictObject({
        model: alias,
        quality: v.optional(quality, 50),
        /** By task category, where it differs from `quality`. */
        qualities: v.optional(v.strictObject(qualities), {}),
      }),
    ),
    v.minLength(1),
    v.maxLength(64),
  ),
  /** Whether long contexts are made shorter before they are sent. */
  optimizer: v.optional(v.picklist(['always', 'never']), 'never'),
  cost_guard: v.optional(
    v.strictObject({
      /** A candidate may cost so many percent more than the cheapest one that can do the task. */
      max_cost_premium_percent: v.pipe(
        v.number(),
        v.integer(),
        v.minValue(0),
        v.maxValue(1_000_000),
      ),
    }),
  ),
  enabled: v.optional(v.boolean(), true),
});

export const packageSchema = v.strictObject({
  slug: name,
  name: lineOfText(120),
  credits: v.pipe(v.number(), v.integer(), v.minValue(1)),
  price_usd: decimal,
  /** Where it is sold for other currencies than dollars. */
  prices: v.optional(packagePrices),
  active: v.optional(v.boolean(), true),
});

/** A package as it is declared or made. What is stored has no such bound: it must end no start. */
export const newPackageSchema = v.strictObject({
  ...packageSchema.entries,
  credits: v.pipe(packageSchema.entries.credits, v.maxValue(creditsMax)),
});

/** Without defaults: builds that know no such members understand the records without them. */
export const surfaceSchema = v.strictObject({
  name,
  display_name: lineOfText(120),
  /** Who serves it, where that is one. The surface `web_search` is also where models look. */
  provider: v.optional(name),
  /** Who serves it, in order of preference; what a query costs there, in dollars. */
  targets: v.optional(
    v.pipe(
      v.array(v.strictObject({ provider: name, cost_usd: v.optional(price) })),
      v.minLength(1),
      v.maxLength(surfaceTargetsMax),
    ),
  ),
  price: v.optional(
    v.strictObject({
      /** What a query costs, with no markup. Omitted: `per_search_call` in credits. */
      credits_per_query: v.optional(credits),
      /** What a search costs that a model or a voice asks for, in dollars. */
      per_search_call: v.optional(price),
    }),
  ),
  cache: v.optional(surfaceCache),
  /** How many queries an account may ask in a minute. */
  requests_per_minute: v.optional(surfaceRequestsPerMinute),
  /** The model that writes cited answers. */
  answer_model: v.optional(alias),
  /** `web_answer` answers from results of this surface. Omitted: `web_search`. */
  search_surface: v.optional(name),
  /** A query that is asked now and then, to see whether the surface works. */
  canary: v.optional(surfaceCanary),
  enabled: v.optional(v.boolean(), true),
});

/** An app that people may let act for them. Its name is the client id. */
export const oauthClientSchema = v.strictObject({ name, ...oauthClientEntries });

/** Who takes money for packages. Its secrets are sealed together. */
export const paymentProviderSchema = v.strictObject({
  name,
  ...paymentProviderEntries,
  /** Omitted: the vendor's. */
  base_url: v.optional(httpUrl),
});

/** The settings of identity as an operator or an administrator writes them. */
export const identitySchema = v.strictObject(identityEntries);

/** The same as a record: there is one. */
export const identityRecordSchema = v.strictObject({
  name: v.optional(v.literal(identityRecordName), identityRecordName),
  ...identityEntries,
});

/** A code that gives credits, to so many accounts. */
export const promotionSchema = v.strictObject({ name, ...promotionEntries });

/** What people are rewarded for doing. Its name is the task's key. */
export const rewardTaskSchema = v.strictObject({ name, ...rewardTaskEntries });

/** The settings of billing as an operator or an administrator writes them. */
export const billingSchema = v.strictObject(billingEntries);

/** The same as a record: there is one. */
export const billingRecordSchema = v.strictObject({
  name: v.optional(v.literal(billingRecordName), billingRecordName),
  ...billingEntries,
});

/** What new organizations get, as an operator or an administrator writes it. */
export const organizationDefaultsSchema = v.strictObject(organizationDefaultEntries);

/** The same as a record: there is one. */
export const organizationDefaultsRecordSchema = v.strictObject({
  name: v.optional(v.literal(organizationDefaultsName), organizationDefaultsName),
  ...organizationDefaultEntries,
});

export const catalogDocumentSchema = v.strictObject({
  /** The most is a billion: arithmetic is exact, and from 1e21 on a number is no decimal. */
  credits_per_usd: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000_000)),
    100,
  ),
  providers: v.optional(v.array(providerSchema), []),
  prices: v.optional(v.array(priceSchema), []),
  models: v.optional(v.array(modelSchema), []),
  routes: v.optional(v.array(managedRouteSchema), []),
  packages: v.optional(v.array(packageSchema), []),
  surfaces: v.optional(v.array(surfaceSchema), []),
  oauth_clients: v.optional(v.array(oauthClientSchema), []),
  identity: v.optional(v.pipe(v.array(identityRecordSchema), v.maxLength(1)), []),
  payment_providers: v.optional(v.array(paymentProviderSchema), []),
  promotions: v.optional(v.array(promotionSchema), []),
  reward_tasks: v.optional(v.array(rewardTaskSchema), []),
  billing: v.optional(v.pipe(v.array(billingRecordSchema), v.maxLength(1)), []),
  organizations: v.optional(v.pipe(v.array(organizationDefaultsRecordSchema), v.maxLength(1)), []),
});

/** What an operator writes. */
export const declaredDocumentSchema = v.strictObject({
  ...catalogDocumentSchema.entries,
  packages: v.optional(v.array(newPackageSchema), []),
  identity: v.optional(identitySchema),
  billing: v.optional(billingSchema),
  organizations: v.optional(organizationDefaultsSchema),
});

export type CatalogDocument = v.InferOutput<typeof catalogDocumentSchema>;
export type ProviderRecord = CatalogDocument['providers'][number];
export type ModelRecord = CatalogDocument['models'][number];
export type PriceRecord = CatalogDocument['prices'][number];
export type PriceMembers = v.InferOutput<typeof priceCardSchema>;
export type ManagedRouteRecord = CatalogDocument['routes'][number];
export type SurfaceRecord = CatalogDocument['surfaces'][number];
export type PackageRecord = CatalogDocument['packages'][number];
export type PaymentProviderRecord = CatalogDocument['payment_providers'][number];
export type OAuthClientRecord = CatalogDocument['oauth_clients'][number];
export type IdentityRecord = CatalogDocument['identity'][number];
export type PromotionRecord = CatalogDocument['promotions'][number];
export type RewardTaskRecord = CatalogDocument['reward_tasks'][number];
export type BillingRecord = CatalogDocument['billing'][number];
