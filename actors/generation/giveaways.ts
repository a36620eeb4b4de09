// A client that leaves before the first word pays nothing, though the provider was sent its input.
// That is counted for its key, beside what the key pays for: who leaves nearly all has to wait.
import { type TokenUsage, totalInputTokens } from '../../media/model/usage.ts';
import type { GiveawayLimiter } from '../../runtime/limiter/giveaways.ts';
import { Problem } from '../../runtime/problem.ts';
import type { GenerationState } from './state.ts';

/** Counts the input of each call that was made and has not failed; estimated. */
export function noteGiveaway({ deps, spec, model, attempts, fallbacks }: GenerationState): void {
  const tokens = spec.inputTokensEstimate * (attempts - fallbacks);
  if (tokens <= 0) return;
  deps.metrics.givenAway(model.alias, tokens);
  if (spec.apiKeyId !== null) deps.giveaways.gave(spec.apiKeyId, tokens, Date.now());
}

/** Counts the input of a generation that is settled. */
export function notePaid({ deps, spec }: GenerationState, usage: TokenUsage): void {
  if (spec.apiKeyId === null) return;
  deps.giveaways.paid(spec.apiKeyId, totalInputTokens(usage), Date.now());
}

/** @throws Problem rate_limited where the key has left too much within a minute, and paid little */
export function requirePaying(
  { giveaways }: { giveaways: GiveawayLimiter },
  apiKeyId: string | null,
): void {
  if (apiKeyId === null) return;
  const seconds = giveaways.retryAfterSeconds(apiKeyId, Date.now());
  if (seconds === null) return;
  throw new Problem('rate_limited', {
    message: 'Too many input tokens of this key were left before the first word of their answers.',
    headers: { 'retry-after': `${seconds}` },
  });
}
