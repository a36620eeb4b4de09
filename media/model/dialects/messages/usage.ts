// Disjoint buckets → `usage` in this format's own convention: input excludes what the cache read or
// wrote, output includes thinking.
import type { TokenUsage } from '../../usage.ts';

export interface MessagesUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
  output_tokens_details: { thinking_tokens: number };
  server_tool_use: { web_search_requests: number; web_fetch_requests: number } | null;
}

export function messagesUsage(usage: TokenUsage): MessagesUsage {
  const { searchCalls } = usage;
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    output_tokens: usage.outputTokens + usage.reasoningTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use:
      searchCalls === 0 ? null : { web_search_requests: searchCalls, web_fetch_requests: 0 },
  };
}

/** `msg_` and the 24 hex characters of our request id. */
export function messageId(requestId: string): string {
  return `msg_${requestId.startsWith('req_') ? requestId.slice(4) : requestId}`;
}
