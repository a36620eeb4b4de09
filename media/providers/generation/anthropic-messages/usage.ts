// Messages usage → disjoint buckets. Input excludes what the cache read or wrote, output includes
// thinking. It comes twice: the last event's members overwrite the first one's, nulls do not.
import type { UsageReport } from '../../../model/usage.ts';
import {
  checkedReport,
  count,
  isCount,
  isMembers,
  type Members,
} from '../../../transport/members.ts';
import { reportedCalls } from '../reported-calls.ts';

const none: Members[] = [];

/** The members of both reports; a null says nothing. */
export function mergeUsage(before: Members | null, report: unknown): Members | null {
  if (!isMembers(report)) return before;
  const merged: Members = { ...before };
  for (const [name, value] of Object.entries(report)) {
    if (value !== null && value !== undefined && name !== '__proto__') merged[name] = value;
  }
  return merged;
}

/** What ran beside the answer itself: the totals have none of its tokens, the bill has. */
export function sideIterations(iterations: unknown): Members[] {
  if (!Array.isArray(iterations)) return none;
  return iterations.filter(
    (entry) =>
      isMembers(entry) && (entry.type === 'compaction' || entry.type === 'advisor_message'),
  );
}

function sum(entries: readonly Members[], name: string): number {
  return entries.reduce((total, entry) => total + count(entry[name]), 0);
}

interface Written {
  tokens: number;
  /** Those of them that are kept for an hour. */
  tokens1h: number;
}

/** What was written to the cache. A total that outgrew its parts grew as they are. */
function writtenOf(usage: Members): Written {
  const parts = isMembers(usage.cache_creation) ? usage.cache_creation : {};
  const tokens1h = count(parts.ephemeral_1h_input_tokens);
  const tokens5m = count(parts.ephemeral_5m_input_tokens);
  const tokens = Math.max(count(usage.cache_creation_input_tokens), tokens1h + tokens5m);
  return { tokens, tokens1h: tokens5m === 0 && tokens1h > 0 ? tokens : tokens1h };
}

/** Null when nothing was reported; an explicit zero is a report. */
export function readUsage(usage: Members | null): UsageReport | null {
  if (usage === null) return null;
  if (!isCount(usage.input_tokens) && !isCount(usage.output_tokens)) return null;
  const details = isMembers(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const tools = isMembers(usage.server_tool_use) ? usage.server_tool_use : {};
  const output = count(usage.output_tokens);
  const reasoning = Math.min(count(details.thinking_tokens), output);
  const beside = sideIterations(usage.iterations);
  const written = [usage, ...beside].map(writtenOf);
  const written1h = written.reduce((total, { tokens1h }) => total + tokens1h, 0);
  const report: UsageReport = {
    inputTokens: count(usage.input_tokens) + sum(beside, 'input_tokens'),
    cachedInputTokens:
      count(usage.cache_read_input_tokens) + sum(beside, 'cache_read_input_tokens'),
    cacheWriteTokens: written.reduce((total, { tokens }) => total + tokens, 0),
    outputTokens: output - reasoning + sum(beside, 'output_tokens'),
    reasoningTokens: reasoning,
    searchCalls: count(tools.web_search_requests),
  };
  if (written1h > 0) report.cacheWrite1hTokens = written1h;
  const toolCalls = reportedCalls('messages', usage.server_tool_use);
  if (toolCalls !== undefined) report.toolCalls = toolCalls;
  return checkedReport(report, usage.input_tokens, usage.output_tokens);
}
