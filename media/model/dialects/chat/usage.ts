// Disjoint buckets → `usage` in this format's own convention: input includes cached and cache-
// write, completion includes reasoning.
import { type TokenUsage, totalInputTokens } from '../../usage.ts';

export interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  completion_tokens_details: { reasoning_tokens: number };
}

export function chatUsage(usage: TokenUsage): ChatUsage {
  const input = totalInputTokens(usage);
  const completion = usage.outputTokens + usage.reasoningTokens;
  return {
    prompt_tokens: input,
    completion_tokens: completion,
    total_tokens: input + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

/** `chatcmpl-` and the 24 hex characters of our request id. */
export function completionId(requestId: string): string {
  return `chatcmpl-${requestId.startsWith('req_') ? requestId.slice(4) : requestId}`;
}
