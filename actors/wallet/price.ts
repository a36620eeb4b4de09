// Prices, exact: decimal strings become integers over one power of ten, one rounding at the very
// end. Microcredits = ceil(sum of quantity x price in dollars x credits per dollar x 1.05 x 10^6).
import assert from 'node:assert/strict';
import { searchType, toolTypeOf } from '../../media/model/hosted-tools.ts';
import { type TokenUsage, type ToolCalls, totalInputTokens } from '../../media/model/usage.ts';
import type { VideoResolution } from '../../media/model/video.ts';

/** Dollars per million tokens as decimal strings ("2.50"); absent: see `compileCard`. */
export interface TokenRates {
  input_per_million?: string;
  cached_input_per_million?: string;
  cache_write_per_million?: string;
  output_per_million?: string;
  reasoning_per_million?: string;
}

/** Applies to every category of a request with at least this many input tokens (inclusive). */
export interface PriceTier extends TokenRates {
  min_input_tokens: number;
}

/** Dollars: the first four per million tokens, the others per what their name says. */
export interface UnitRates {
  audio_input?: string;
  text_input?: string;
  audio_output?: string;
  text_output?: string;
  per_1k_characters?: string;
  per_audio_minute?: string;
  per_second_of_video?: string;
  per_search_call?: string;
}

/** What a second of some videos costs: those of a resolution, with sound, without, or both. */
export interface VideoRate {
  resolution: VideoResolution;
  audio?: boolean;
  per_second_of_video: string;
}

export interface PriceCard extends TokenRates, UnitRates {
  cache_write_1h_per_million?: string;
  /** Dollars per call, by the type of a hosted tool. */
  per_tool_call?: Record<string, string>;
  pricing_tiers?: PriceTier[];
  /** The most specific one counts; `per_second_of_video` where there is none. */
  video_rates?: VideoRate[];
}

/** What else a request may use, in integers; media time in milliseconds. */
export interface UnitUsage {
  audioInputTokens?: number;
  textInputTokens?: number;
  audioOutputTokens?: number;
  textOutputTokens?: number;
  characters?: number;
  audioMs?: number;
}

/** Integers over the card's denominator, in microcredits per token, without the markup. */
export interface CompiledTier {
  minInputTokens: number;
  input: bigint;
  cachedInput: bigint;
  cacheWrite: bigint;
  cacheWrite1h: bigint;
  output: bigint;
  reasoning: bigint;
  /** As it was given or inherited; null: the card names no such price. */
  given: { input: string | null; cachedInput: string | null; output: string | null };
}

export interface CompiledCard {
  denominator: bigint;
  creditsPerUsd: string;
  /** By falling threshold; the last one is the base card. */
  tiers: CompiledTier[];
  units: { [K in keyof UnitUsage]-?: bigint };
  /** A second of video, the most specific rates first; the last one is for all others. */
  video: { resolution: VideoResolution | null; audio: boolean | null; second: bigint }[];
  /** As they were given, for the public catalog. */
  givenVideoRates: VideoRate[];
  givenUnits: Partial<Record<PublicUnit, string>>;
  searchCall: bigint;
  /** Prices of hosted tools by type, without versions. Only what is priced is there. */
  toolCalls: Record<string, bigint>;
  /** Dollars per call as they were given, searches among them. */
  givenCalls: Record<string, string>;
}

const publicUnits = [
  'audio_input',
  'text_input',
  'audio_output',
  'text_output',
  'per_1k_characters',
  'per_audio_minute',
  'per_second_of_video',
] as const;
type PublicUnit = (typeof publicUnits)[number];

export interface Charge {
  chargeMicros: bigint;
  /** The provider's part of the charge, rounded up; the rest is the markup. */
  providerCostMicros: bigint;
}

/** What a charge is above the provider's price, in percent (decisions.md, section 6). */
export const markupPercent = 5;
const MARKUP_DENOMINATOR = 100n;
export const MARKUP_NUMERATOR = MARKUP_DENOMINATOR + BigInt(markupPercent);
const MICROS_PER_CREDIT = 1_000_000n;

/** A non-negative decimal as an integer over a power of ten. */
interface Decimal {
  digits: bigint;
  scale: number;
}

/** Reads a non-negative decimal ("2.50", "0.0005"). Throws on anything else. */
export function parseDecimal(text: string): Decimal {
  const match = /^(\d{1,15})(?:\.(\d{1,18}))?$/.exec(text);
  if (match === null) throw new Error(`not a non-negative decimal: ${JSON.stringify(text)}`);
  const fraction = match[2] ?? '';
  return { digits: BigInt(`${match[1]}${fraction}`), scale: fraction.length };
}

/**
 * Makes a card ready to price with. Absent cached and cache-write rates are the input's, that of an
 * hour is the cache-write's, an absent reasoning rate is the output's; what a tier omits it
 * inherits from the base card, and its hour is as much dearer as its cache-write; a card without a
 * price for something gives it away. Throws when a price is not a decimal.
 */
export function compileCard(card: PriceCard, creditsPerUsd: string): CompiledCard {
  const tiers = [...(card.pricing_tiers ?? [])].sort(
    (a, b) => b.min_input_tokens - a.min_input_tokens,
  );
  const cards: (TokenRates & { min_input_tokens: number })[] = [
    ...tiers.map((tier) => ({ ...card, ...tier })),
    { ...card, min_input_tokens: 0 },
  ];
  const exchange = parseDecimal(creditsPerUsd);
  const scale = Math.max(...allPrices(card, cards).map((text) => parseDecimal(text).scale));
  // 60,000 beside the powers of ten: prices per minute of milliseconds stay whole.
  const denominator = 60_000n * 1_000_000n * 10n ** BigInt(scale + exchange.scale);
  const compile = (text: string | undefined, perQuantity: bigint): bigint => {
    if (text === undefined) return 0n;
    const price = parseDecimal(text);
    const factor = denominator / (perQuantity * 10n ** BigInt(price.scale + exchange.scale));
    return price.digits * exchange.digits * MICROS_PER_CREDIT * factor;
  };
  return {
    denominator,
    creditsPerUsd,
    tiers: cards.map((tier) => compileTier(tier, card, (text) => compile(text, 1_000_000n))),
    units: {
      audioInputTokens: compile(card.audio_input, 1_000_000n),
      textInputTokens: compile(card.text_input, 1_000_000n),
      audioOutputTokens: compile(card.audio_output, 1_000_000n),
      textOutputTokens: compile(card.text_output, 1_000_000n),
      characters: compile(card.per_1k_characters, 1_000n),
      audioMs: compile(card.per_audio_minute, 60_000n),
    },
    givenUnits: Object.fromEntries(
      publicUnits.flatMap((unit) => (card[unit] === undefined ? [] : [[unit, card[unit]]])),
    ),
    video: compileVideo(card, (text) => compile(text, 1n)),
    givenVideoRates: card.video_rates ?? [],
    searchCall: compile(card.per_search_call, 1n),
    ...compileCalls(card, (text) => compile(text, 1n)),
  };
}

/** Tools are priced without their versions: the newest one has the price of the others. */
function compileCalls(
  { per_tool_call: prices = {}, per_search_call: search }: PriceCard,
  compile: (text: string) => bigint,
): Pick<CompiledCard, 'toolCalls' | 'givenCalls'> {
  const given = Object.entries(prices).map(([type, text]): [string, string] => [
    toolTypeOf(type),
    text,
  ]);
  return {
    toolCalls: Object.fromEntries(given.map(([type, text]) => [type, compile(text)])),
    givenCalls: Object.fromEntries([
      ...(search === undefined ? [] : [[searchType, search]]),
      ...given,
    ]),
  };
}

function compileVideo(
  { video_rates: rates = [], per_second_of_video: base }: PriceCard,
  compile: (text: string | undefined) => bigint,
): CompiledCard['video'] {
  const rows = rates.map(({ resolution, audio = null, per_second_of_video: text }) => {
    return { resolution, audio, second: compile(text) };
  });
  rows.sort((left, right) => Number(left.audio === null) - Number(right.audio === null));
  return [...rows, { resolution: null, audio: null, second: compile(base) }];
}

function allPrices(card: PriceCard, cards: TokenRates[]): string[] {
  const { pricing_tiers: _tiers, ...base } = card;
  const tokenPrices = cards.flatMap((tier) => [
    tier.input_per_million,
    tier.cached_input_per_million,
    tier.cache_write_per_million,
    tier.output_per_million,
    tier.reasoning_per_million,
  ]);
  const calls = Object.values(card.per_tool_call ?? {});
  const seconds = (card.video_rates ?? []).map((rate) => rate.per_second_of_video);
  const values: unknown[] = [...Object.values(base), ...calls, ...seconds, ...tokenPrices, '0'];
  return values.filter((value): value is string => typeof value === 'string');
}

function compileTier(
  tier: TokenRates & { min_input_tokens: number },
  base: PriceCard,
  compile: (text: string | undefined) => bigint,
): CompiledTier {
  const input = tier.input_per_million;
  const output = tier.output_per_million;
  const cached = tier.cached_input_per_million ?? input;
  const cacheWrite = compile(tier.cache_write_per_million ?? input);
  const baseWrite = compile(base.cache_write_per_million ?? base.input_per_million);
  const hour = base.cache_write_1h_per_million;
  return {
    minInputTokens: tier.min_input_tokens,
    input: compile(input),
    cachedInput: compile(cached),
    cacheWrite,
    cacheWrite1h: hour === undefined ? cacheWrite : scaled(compile(hour), cacheWrite, baseWrite),
    output: compile(output),
    reasoning: compile(tier.reasoning_per_million ?? output),
    given: { input: input ?? null, cachedInput: cached ?? null, output: output ?? null },
  };
}

/** As much more as `part` is of `whole`, rounded up; unchanged where there is no whole. */
function scaled(amount: bigint, part: bigint, whole: bigint): bigint {
  return whole === 0n ? amount : (amount * part + whole - 1n) / whole;
}

/** Prices a request: the customer's charge and the provider's part of it. */
export function charge(card: CompiledCard, usage: TokenUsage, units: UnitUsage = {}): Charge {
  return round(card, costOf(card, usage, units));
}

/** Prices the calls of one request, each in its own tier; one rounding at the end. */
export function chargeCalls(card: CompiledCard, calls: readonly TokenUsage[]): Charge {
  return round(
    card,
    calls.reduce((cost, usage) => cost + costOf(card, usage, {}), 0n),
  );
}

/** Which video is priced: by what was asked for, never by what was measured. */
export interface PricedVideo {
  resolution: VideoResolution;
  audio: boolean;
  /** Whole. */
  seconds: number;
}

/** Prices one video. */
export function videoCharge(
  card: CompiledCard,
  { resolution, audio, seconds }: PricedVideo,
): Charge {
  const rate = card.video.find(
    (row) =>
      (row.resolution === null || row.resolution === resolution) &&
      (row.audio === null || row.audio === audio),
  );
  assert.ok(rate !== undefined, 'the last rate is for all videos');
  return round(card, rate.second * BigInt(seconds));
}

/** Whether sound costs something else than text, which is the same in every tier. */
export function hasSoundPrice({ givenUnits }: CompiledCard): boolean {
  return givenUnits.audio_input !== undefined;
}

/** The exact cost without markup, over the card's denominator. */
function costOf(card: CompiledCard, usage: TokenUsage, units: UnitUsage): bigint {
  const tier = tierFor(card, usage);
  let cost = 0n;
  if (usage.inputTokens > 0) cost += tier.input * BigInt(usage.inputTokens);
  const sound = usage.audioInputTokens ?? 0;
  if (sound > 0 && hasSoundPrice(card)) {
    cost += (card.units.audioInputTokens - tier.input) * BigInt(sound);
  }
  if (usage.cachedInputTokens > 0) cost += tier.cachedInput * BigInt(usage.cachedInputTokens);
  if (usage.cacheWriteTokens > 0) cost += tier.cacheWrite * BigInt(usage.cacheWriteTokens);
  const written1h = usage.cacheWrite1hTokens ?? 0;
  if (written1h > 0) cost += (tier.cacheWrite1h - tier.cacheWrite) * BigInt(written1h);
  if (usage.outputTokens > 0) cost += tier.output * BigInt(usage.outputTokens);
  if (usage.reasoningTokens > 0) cost += tier.reasoning * BigInt(usage.reasoningTokens);
  if (usage.searchCalls > 0) cost += card.searchCall * BigInt(usage.searchCalls);
  if (usage.toolCalls !== undefined) cost += costOfCalls(card, usage.toolCalls);
  for (const [unit, quantity] of Object.entries(units) as [keyof UnitUsage, number][]) {
    if (quantity > 0) cost += card.units[unit] * BigInt(quantity);
  }
  return cost;
}

/** What has no price was not let through: a provider that counts such calls charges nobody here. */
function costOfCalls({ toolCalls: prices }: CompiledCard, calls: ToolCalls): bigint {
  let cost = 0n;
  for (const [type, count] of Object.entries(calls)) {
    const price = Object.hasOwn(prices, type) ? prices[type] : undefined;
    if (price !== undefined) cost += price * BigInt(count);
  }
  return cost;
}

function tierFor(card: CompiledCard, usage: TokenUsage): CompiledTier {
  const inputTokens = totalInputTokens(usage);
  const tier = card.tiers.find((candidate) => inputTokens >= candidate.minInputTokens);
  assert.ok(tier !== undefined, 'the base card takes every count');
  return tier;
}

function round(card: CompiledCard, cost: bigint): Charge {
  const { denominator } = card;
  return {
    chargeMicros: ceilDivide(cost * MARKUP_NUMERATOR, denominator * MARKUP_DENOMINATOR),
    providerCostMicros: ceilDivide(cost, denominator),
  };
}

function ceilDivide(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
