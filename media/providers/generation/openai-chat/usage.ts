// Chat Completions usage → disjoint buckets. Input includes cached, completion includes reasoning,
// except with servers whose total shows that reasoning stands beside it.
import type { UsageReport } from '../../../model/usage.ts';
import {
  checkedReport,
  count,
  isCount,
  isMembers,
  type Members,
} from '../../../transport/members.ts';
import { reportedCalls } from '../reported-calls.ts';

/** Compatible servers with a search of their own count it, each in its own member. */
function searches({ num_search_queries: queries, server_tool_use: tools }: Members): number {
  return count(queries ?? (isMembers(tools) ? tools.web_search_requests : 0));
}

/** Null when nothing was reported; an explicit zero is a report. */
export function readUsage(usage: unknown): UsageReport | null {
  if (!isMembers(usage)) return null;
  if (!isCount(usage.prompt_tokens) && !isCount(usage.completion_tokens)) return null;
  const input = count(usage.prompt_tokens);
  const completion = count(usage.completion_tokens);
  const inputDetails = isMembers(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const outputDetails = isMembers(usage.completion_tokens_details)
    ? usage.completion_tokens_details
    : {};
  const cached = Math.min(
    count(inputDetails.cached_tokens ?? usage.prompt_cache_hit_tokens),
    input,
  );
  const cacheWrite = Math.min(count(inputDetails.cache_write_tokens), input - cached);
  // SGLang tells it beside the totals.
  const reasoning = count(outputDetails.reasoning_tokens ?? usage.reasoning_tokens);
  const outside = reasoning > 0 && count(usage.total_tokens) === input + completion + reasoning;
  const inside = outside ? reasoning : Math.min(reasoning, completion);
  const uncached = input - cached - cacheWrite;
  const sound = Math.min(count(inputDetails.audio_tokens), uncached);
  const report: UsageReport = {
    inputTokens: uncached,
    ...(sound > 0 ? { audioInputTokens: sound } : {}),
    cachedInputTokens: cached,
    cacheWriteTokens: cacheWrite,
    outputTokens: outside ? completion : completion - inside,
    reasoningTokens: inside,
    searchCalls: searches(usage),
  };
  const toolCalls = reportedCalls('chat', usage.server_tool_use);
  if (toolCalls !== undefined) report.toolCalls = toolCalls;
  return checkedReport(report, usage.prompt_tokens, usage.completion_tokens);
}
