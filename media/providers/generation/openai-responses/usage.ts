// Usage of a response → disjoint buckets. Input includes cached and cache-write, output includes
// reasoning; searches stand beside it, where a server counts them at all.
import type { UsageReport } from '../../../model/usage.ts';
import {
  checkedReport,
  count,
  isCount,
  isMembers,
  type Members,
} from '../../../transport/members.ts';

/** Null when nothing was reported; an explicit zero is a report. `searches`: calls seen. */
export function readUsage(response: Members, searches: number): UsageReport | null {
  const { usage } = response;
  if (!isMembers(usage)) return null;
  if (!isCount(usage.input_tokens) && !isCount(usage.output_tokens)) return null;
  const input = count(usage.input_tokens);
  const output = count(usage.output_tokens);
  const inputDetails = detailsOf(usage.input_tokens_details);
  const cached = Math.min(count(inputDetails.cached_tokens), input);
  const cacheWrite = Math.min(count(inputDetails.cache_write_tokens), input - cached);
  const reasoning = Math.min(
    count(detailsOf(usage.output_tokens_details).reasoning_tokens),
    output,
  );
  const report = {
    inputTokens: input - cached - cacheWrite,
    cachedInputTokens: cached,
    cacheWriteTokens: cacheWrite,
    outputTokens: output - reasoning,
    reasoningTokens: reasoning,
    searchCalls: reportedSearches(response) ?? searches,
  };
  return checkedReport(report, usage.input_tokens, usage.output_tokens);
}

/** The server's own count of billed searches: opening a found page is none. */
function reportedSearches(response: Members): number | null {
  const search = detailsOf(detailsOf(response.tool_usage).web_search);
  return isCount(search.num_requests) ? Math.floor(search.num_requests) : null;
}

function detailsOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}
