// Prices as the public catalog shows them: credits per unit, the markup included.
import assert from 'node:assert/strict';
import type { VideoResolution } from '../../media/model/video.ts';
import { type CompiledCard, type CompiledTier, MARKUP_NUMERATOR, parseDecimal } from './price.ts';

/** Credits per million tokens; null: the card names no such price. */
export interface PublicRates {
  credits_per_million_input: number | null;
  credits_per_million_cached_input: number | null;
  credits_per_million_output: number | null;
}

export interface PublicPrices extends PublicRates {
  pricing_tiers: (PublicRates & { min_input_tokens: number })[];
}

export function publicRates(card: CompiledCard): PublicPrices {
  const rates = (tier: CompiledTier): PublicRates => ({
    credits_per_million_input: publicRate(card, tier.given.input),
    credits_per_million_cached_input: publicRate(card, tier.given.cachedInput),
    credits_per_million_output: publicRate(card, tier.given.output),
  });
  const base = card.tiers.at(-1);
  assert.ok(base !== undefined, 'a card has a base');
  const tiers = card.tiers.slice(0, -1).reverse();
  return {
    ...rates(base),
    pricing_tiers: tiers.map((tier) => ({
      min_input_tokens: tier.minInputTokens,
      ...rates(tier),
    })),
  };
}

/** Rates of what is not text, as the public catalog shows them; absent where there is no price. */
export interface PublicUnitRates {
  credits_per_million_audio_input?: number;
  credits_per_million_text_input?: number;
  credits_per_million_audio_output?: number;
  credits_per_million_text_output?: number;
  credits_per_1k_characters?: number;
  credits_per_audio_minute?: number;
  credits_per_second_of_video?: number;
}

export function publicUnitRates(card: CompiledCard): PublicUnitRates {
  return Object.fromEntries(
    Object.entries(card.givenUnits).map(([unit, price]) => [
      `credits_${unit.startsWith('per_') ? unit : `per_million_${unit}`}`,
      publicRate(card, price),
    ]),
  );
}

/** What a second costs of the videos that a row names; the most specific one counts. */
export interface PublicVideoRate {
  resolution: VideoResolution;
  /** With sound, or without; absent: both. */
  audio?: boolean;
  credits_per_second_of_video: number;
}

export function publicVideoRates(card: CompiledCard): PublicVideoRate[] {
  return card.givenVideoRates.map(({ resolution, audio, per_second_of_video: price }) => ({
    resolution,
    ...(audio === undefined ? {} : { audio }),
    credits_per_second_of_video: publicRate(card, price) ?? 0,
  }));
}

/** Credits a call of each of these tools; nothing where there are none. */
export function publicCallRates(
  card: CompiledCard,
  types: readonly string[],
): { credits_per_tool_call?: Record<string, number> } {
  if (types.length === 0) return {};
  const rates = types.map((type) => [type, publicRate(card, card.givenCalls[type] ?? null) ?? 0]);
  return { credits_per_tool_call: Object.fromEntries(rates) };
}

/** The nearest number to the exact decimal: 2.50 dollars are 262.5 credits. */
function publicRate(card: CompiledCard, text: string | null): number | null {
  if (text === null) return null;
  const price = parseDecimal(text);
  const exchange = parseDecimal(card.creditsPerUsd);
  const digits = (price.digits * exchange.digits * MARKUP_NUMERATOR).toString();
  return Number(`${digits}e-${price.scale + exchange.scale + 2}`);
}
