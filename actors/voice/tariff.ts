// What a voice session costs, pure: the hold for its longest duration, the charge of what was
// reported, the estimate where nothing was, and the public billing units.
import type { SessionUsage } from '../../db/voice/sessions.ts';
import { zeroUsage } from '../../media/model/usage.ts';
import type { LiveUsage } from '../../media/providers/live/contract.ts';
import type { CatalogModel, TokensPerSecond } from '../catalog/model.ts';
import { type Charge, type CompiledCard, charge } from '../wallet/price.ts';

export type Tariff = Pick<CatalogModel, 'card'> & { perSecond: TokensPerSecond };

export const noUsage: Readonly<SessionUsage> = Object.freeze({
  inputSpeechTokens: 0,
  inputTextTokens: 0,
  outputSpeechTokens: 0,
  outputTextTokens: 0,
  searchCalls: 0,
});

export function addReport(usage: SessionUsage, report: LiveUsage): void {
  usage.inputSpeechTokens += report.inputSpeechTokens;
  usage.inputTextTokens += report.inputTextTokens;
  usage.outputSpeechTokens += report.outputSpeechTokens;
  usage.outputTextTokens += report.outputTextTokens;
}

export function isNothing(usage: SessionUsage): boolean {
  return Object.values(usage).every((count) => count === 0);
}

/** The charge of this usage, one rounding at its end. */
export function chargeOf(card: CompiledCard, usage: SessionUsage): Charge {
  return charge(
    card,
    { ...zeroUsage, searchCalls: usage.searchCalls },
    {
      audioInputTokens: usage.inputSpeechTokens,
      textInputTokens: usage.inputTextTokens,
      audioOutputTokens: usage.outputSpeechTokens,
      textOutputTokens: usage.outputTextTokens,
    },
  );
}

/** The most that is said in this time, by the declared rates. */
export function tokensWithin(perSecond: TokensPerSecond, durationMs: number) {
  const tokens = (rate: number) => Math.ceil((Math.max(0, durationMs) * rate) / 1_000);
  return {
    inputSpeechTokens: tokens(perSecond.audioInput),
    inputTextTokens: tokens(perSecond.textInput),
    outputSpeechTokens: tokens(perSecond.audioOutput),
    outputTextTokens: tokens(perSecond.textOutput),
  } satisfies LiveUsage;
}

/** What a session of this length may cost at the most. */
export function holdMicros({ card, perSecond }: Tariff, durationMs: number): bigint {
  return chargeOf(card, { ...tokensWithin(perSecond, durationMs), searchCalls: 0 }).chargeMicros;
}

/** Sound whose usage the provider never reported, as tokens at the declared rates. */
export function estimated(perSecond: TokensPerSecond, inputMs: number, outputMs: number) {
  return {
    inputSpeechTokens: Math.ceil((inputMs * perSecond.audioInput) / 1_000),
    inputTextTokens: 0,
    outputSpeechTokens: Math.ceil((outputMs * perSecond.audioOutput) / 1_000),
    outputTextTokens: 0,
  } satisfies LiveUsage;
}

/** `usage` of session.ended (specification, 6.1). */
export function publicUsage(usage: SessionUsage): Record<string, number> {
  return {
    input_speech_tokens: usage.inputSpeechTokens,
    input_text_tokens: usage.inputTextTokens,
    output_speech_tokens: usage.outputSpeechTokens,
    output_text_tokens: usage.outputTextTokens,
    total_input_tokens: usage.inputSpeechTokens + usage.inputTextTokens,
    total_output_tokens: usage.outputSpeechTokens + usage.outputTextTokens,
  };
}

/** The nonzero units as exact decimals: 1,234 tokens are "0.001234" millions. */
export function billingUnits(usage: SessionUsage): Record<string, string> {
  const units = {
    audio_input_million_tokens: usage.inputSpeechTokens,
    text_input_million_tokens: usage.inputTextTokens,
    audio_output_million_tokens: usage.outputSpeechTokens,
    text_output_million_tokens: usage.outputTextTokens,
  };
  return Object.fromEntries(
    Object.entries(units)
      .filter(([, tokens]) => tokens > 0)
      .map(([name, tokens]) => [name, millions(tokens)]),
  );
}

function millions(tokens: number): string {
  const whole = Math.floor(tokens / 1_000_000);
  const fraction = String(tokens % 1_000_000).padStart(6, '0');
  return `${whole}.${fraction}`.replace(/\.?0+$/, '');
}
