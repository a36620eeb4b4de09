// usageMetadata → disjoint buckets. The prompt includes what was read from a cache; what tools gave
// the model stands beside it; thoughts stand beside the candidates, or inside if the total says so.
import type { UsageReport } from '../../../model/usage.ts';
import { checkedReport, count, isCount, isMembers } from '../../../transport/members.ts';

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
  const sound = soundIn(usage.promptTokensDetails) - soundIn(usage.cacheTokensDetails);
  const report = {
    inputTokens: prompt - cached + toolUse,
    ...(sound > 0 ? { audioInputTokens: Math.min(sound, prompt - cached) } : {}),
    cachedInputTokens: cached,
    cacheWriteTokens: 0,
    outputTokens: isInside ? candidates - thoughts : candidates,
    reasoningTokens: thoughts,
    searchCalls,
  };
  // Of a total alone nobody knows what it costs.
  const parts = [promptTokenCount, candidatesTokenCount, usage.thoughtsTokenCount];
  if (count(totalTokenCount) > 0 && !parts.some(isCount)) return { ...report, unreadable: true };
  return checkedReport(report, promptTokenCount ?? 0, candidatesTokenCount ?? 0);
}

/** The counts of a modality may come in several details. */
function soundIn(details: unknown): number {
  if (!Array.isArray(details)) return 0;
  return details.reduce<number>((sum, detail) => {
    return isMembers(detail) && detail.modality === 'AUDIO' ? sum + count(detail.tokenCount) : sum;
  }, 0);
}

/** Whether it counts the output: the first events of a stream may report the prompt alone. */
export function countsOutput(usage: unknown): boolean {
  if (!isMembers(usage)) return false;
  // While it thinks, it has no candidate.
  return isCount(usage.candidatesTokenCount) || count(usage.thoughtsTokenCount) > 0;
}
