// Disjoint buckets → `usage` in this format's own convention: input includes cached and cache-
// write, output includes reasoning.
import { type TokenUsage, totalInputTokens } from '../../usage.ts';
import type { SvcUsage } from '../contract.ts';

export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

export function responseUsage(usage: TokenUsage): ResponseUsage {
  const input = totalInputTokens(usage);
  const output = usage.outputTokens + usage.reasoningTokens;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: input + output,
  };
}

/** The buckets of a receipt: the inverse of how `svc_usage` was written. */
export function tokenUsage(svcUsage: SvcUsage): TokenUsage {
  return {
    inputTokens: svcUsage.input_tokens,
    cachedInputTokens: svcUsage.cached_input_tokens,
    cacheWriteTokens: svcUsage.cache_write_tokens,
    outputTokens: svcUsage.output_tokens,
    reasoningTokens: svcUsage.reasoning_tokens,
    searchCalls: svcUsage.search_calls,
  };
}
