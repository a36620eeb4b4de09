// usageMetadata → disjoint buckets. The prompt includes what was read from a cache; what tools gave
// the model stands beside it; thoughts stand beside the candidates, or inside if the total says so.
import type { UsageReport } from '../../model/usage.ts';
import { checkedReport, count, isCount, isMembers } from '../members.ts';

/** Null when nothing was reported; an explicit zero is a report. */
export function readUsage(usage: unknown, searchCalls: number): UsageReport | null {
  if (!isMembers(usage)) return null;
  const { promptTokenCount, candidatesTokenCount, totalTokenCount } = usage;
  // Counts of zero are left out of the JSON, but hardly ever all of them.
  if (![promptTokenCount, candidatesTokenCount, totalTokenCount].some(isCount)) return null;
  const prompt = count(promptTokenCount);
  const candidates = count(candidatesTokenCount);
  const thoughts = count(usage.thoughtsTokenCount);
  const toolUse = count(usage.toolUsePromptTokenCount);
  const cached = Math.min(count(usage.cachedContentTokenCount), prompt);
  const isInside =
    thoughts > 0 &&
    thoughts <= candidates &&
    count(totalTokenCount) === prompt + toolUse + candidates;
  const report = {
    inputTokens: prompt - cached + toolUse,
    cachedInputTokens: cached,
    cacheWriteTokens: 0,
    outputTokens: isInside ? candidates - thoughts : candidates,
    reasoningTokens: thoughts,
    searchCalls,
  };
  return checkedReport(report, promptTokenCount ?? 0, candidatesTokenCount ?? 0);
}

/** Whether it counts the output: the first events of a stream may report the prompt alone. */
export function countsOutput(usage: unknown): boolean {
  if (!isMembers(usage)) return false;
  // While it thinks, it has no candidate.
  return isCount(usage.candidatesTokenCount) || count(usage.thoughtsTokenCount) > 0;
}
