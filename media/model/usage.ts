// Token usage in disjoint buckets, as `svc_usage` shows it and as prices apply to it.

/** Integers >= 0. Input excludes cached and cache-write tokens, output excludes reasoning. */
export interface TokenUsage {
  inputTokens: number;
  /** Those of the input tokens that are sound, at their own price where there is one; no bucket. */
  audioInputTokens?: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  /** Those of the cache-write tokens that are kept for an hour, at their own price; no bucket. */
  cacheWrite1hTokens?: number;
  outputTokens: number;
  reasoningTokens: number;
  searchCalls: number;
  /** Calls of other tools that the provider runs and bills, by type; absent: none. */
  toolCalls?: ToolCalls;
}

/** Integers > 0 by the type of a hosted tool (`hosted-tools.ts`). */
export type ToolCalls = Readonly<Record<string, number>>;

/** As a provider told it. */
export interface UsageReport extends TokenUsage {
  /** A count of input or output is missing or absurd: what was delivered is to be counted here. */
  unreadable?: true;
}

/** What of a report is not believed (decisions.md, section 6). */
export type Doubt = 'input' | 'output' | 'both';

/** How far beyond the ceiling an output is believed: reasoning may not be bounded by it. */
const doubtfulFactor = 2;
const doubtfulTokens = 1_024;

/** Null: the report is believed. An answer whose input is nothing has an output of nothing. */
export function doubtOf(usage: TokenUsage, outputTokensCeiling: number): Doubt | null {
  const output = usage.outputTokens + usage.reasoningTokens;
  const isLong = output > doubtfulFactor * outputTokensCeiling + doubtfulTokens;
  const isFromNothing = output > 0 && totalInputTokens(usage) === 0;
  if (isLong) return isFromNothing ? 'both' : 'output';
  return isFromNothing ? 'input' : null;
}

export type UsageSource = 'reported' | 'estimated' | 'none';

/** For the caller to fill in. V8 copies a frozen object by a way that takes seven times as long. */
export function noUsage(): TokenUsage {
  return {
    inputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    searchCalls: 0,
  };
}

export const zeroUsage: Readonly<TokenUsage> = Object.freeze(noUsage());

/** All input tokens of a request: what the price tier is chosen by. */
export function totalInputTokens(usage: TokenUsage): number {
  return usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens;
}

/** Both together: a repaired answer, a search before it. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  const audioInputTokens = (one.audioInputTokens ?? 0) + (other.audioInputTokens ?? 0);
  const cacheWrite1hTokens = (one.cacheWrite1hTokens ?? 0) + (other.cacheWrite1hTokens ?? 0);
  const sum: TokenUsage = {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    searchCalls: one.searchCalls + other.searchCalls,
  };
  if (audioInputTokens > 0) sum.audioInputTokens = audioInputTokens;
  if (cacheWrite1hTokens > 0) sum.cacheWrite1hTokens = cacheWrite1hTokens;
  const toolCalls = addCalls(one.toolCalls, other.toolCalls);
  if (toolCalls !== undefined) sum.toolCalls = toolCalls;
  return sum;
}

/** Both together, by type. */
export function addCalls(
  one: ToolCalls | undefined,
  other: ToolCalls | undefined,
): ToolCalls | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sum: Record<string, number> = { ...one };
  for (const [type, count] of Object.entries(other)) sum[type] = (sum[type] ?? 0) + count;
  return sum;
}

/** The larger count of each type: what was seen and what was reported are the same calls. */
export function mostCalls(
  one: ToolCalls | undefined,
  other: ToolCalls | undefined,
): ToolCalls | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const most: Record<string, number> = { ...one };
  for (const [type, count] of Object.entries(other)) most[type] = Math.max(most[type] ?? 0, count);
  return most;
}

function sameCalls(one: ToolCalls | undefined, other: ToolCalls | undefined): boolean {
  if (one === other) return true;
  const names = Object.keys(one ?? {});
  if (names.length !== Object.keys(other ?? {}).length) return false;
  return names.every((name) => one?.[name] === other?.[name]);
}

export function sameUsage(one: UsageReport, other: UsageReport): boolean {
  return (
    one.unreadable === other.unreadable &&
    one.inputTokens === other.inputTokens &&
    one.audioInputTokens === other.audioInputTokens &&
    one.cachedInputTokens === other.cachedInputTokens &&
    one.cacheWriteTokens === other.cacheWriteTokens &&
    one.cacheWrite1hTokens === other.cacheWrite1hTokens &&
    one.outputTokens === other.outputTokens &&
    one.reasoningTokens === other.reasoningTokens &&
    one.searchCalls === other.searchCalls &&
    sameCalls(one.toolCalls, other.toolCalls)
  );
}
