// What a generation costs, pure: its usage by source, the charge, and `svc_usage`.

import type { Answer } from '../../media/model/answer.ts';
import { attachmentTokens, soundTokens } from '../../media/model/attachments.ts';
import { type HostedTool, hostedCallsIn } from '../../media/model/hosted-tools.ts';
import { asksChatSearch, isCited, searchesIn } from '../../media/model/search-tools.ts';
import { estimateInputTokens } from '../../media/model/tokens.ts';
import {
  addUsage,
  mostCalls,
  noUsage,
  type TokenUsage,
  totalInputTokens,
  type UsageReport,
  type UsageSource,
  zeroUsage,
} from '../../media/model/usage.ts';
import { type Charge, type CompiledCard, chargeCalls } from '../wallet/price.ts';
import type { CountedTokens } from './protocol.ts';
import { deliveredTokens, type GenerationState } from './state.ts';

/**
 * The usage that is charged, call by call: a price tier goes by the input of one. `reported` is the
 * provider's own, zeros included; `estimated` is the tokenizer's count of what was delivered, or
 * our cheap estimate where even that failed.
 */
export function usageAtEnd(
  state: GenerationState,
  source: UsageSource,
  counted: CountedTokens | null,
): TokenUsage[] {
  const last =
    source === 'reported' && state.usage !== null ? state.usage : estimatedUsage(state, counted);
  const { spent } = state.structure;
  const whole = withSearches(withUncounted(state, last), state.search.calls);
  return spent === null ? [whole] : [spent, whole];
}

/**
 * The usage of one answer with what its provider charges for and does not count: searches of Chat,
 * and calls of tools that the answer shows.
 */
export function withUncounted(
  { request, answer, search, spec }: GenerationState,
  usage: TokenUsage,
): TokenUsage {
  // What is cited may be what we have found.
  const isOurs = search.calls > 0 || usage.searchCalls > 0;
  const isAsked = search.uncounted || asksChatSearch(request);
  const searched = withSearches(usage, !isOurs && isAsked && isCited(answer) ? 1 : 0);
  return spec.hosted.length === 0 ? searched : withCalls(searched, spec.hosted, answer);
}

/** Counts the calls that were reported, or those that the answer shows where these are more. */
function withCalls(usage: TokenUsage, offered: readonly HostedTool[], answer: Answer): TokenUsage {
  const toolCalls = mostCalls(usage.toolCalls, hostedCallsIn(answer, offered));
  return toolCalls === undefined ? usage : { ...usage, toolCalls };
}

function withSearches(usage: TokenUsage, searchCalls: number): TokenUsage {
  return searchCalls === 0 ? usage : addUsage(usage, { ...noUsage(), searchCalls });
}

/** All calls together, as `svc_usage` shows them. */
export function sumOf(calls: readonly TokenUsage[]): TokenUsage {
  return calls.reduce(addUsage, zeroUsage);
}

/**
 * The tokenizer's count, or the cheap estimate where there is none. What the provider has said of
 * the input before the answer was cut is no guess, and no more is estimated than was asked for.
 */
export function estimatedUsage(
  state: GenerationState,
  counted: CountedTokens | null = null,
): TokenUsage {
  const told = state.usage ?? state.begunUsage ?? zeroUsage;
  const { outputTokens, reasoningTokens } = estimatedOutput(state, counted);
  // Its searches were made, whether the answer was cut or not.
  const searchCalls = Math.max(told.searchCalls, searchesIn(state.answer));
  // Servers that know nothing yet begin with zeros.
  if (totalInputTokens(told) > 0) {
    const { unreadable: _mark, ...usage }: UsageReport = told;
    return { ...usage, outputTokens, reasoningTokens, searchCalls };
  }
  const { request } = state;
  const inputTokens =
    counted === null ? estimateInputTokens(request) : counted.input + attachmentTokens(request);
  const usage = { ...noUsage(), inputTokens, outputTokens, reasoningTokens, searchCalls };
  const sound = soundTokens(request);
  return sound === 0 ? usage : { ...usage, audioInputTokens: Math.min(sound, inputTokens) };
}

/**
 * What was delivered, in the buckets of its prices; at least what a report on the way has counted.
 * Such a report may have the reasoning in its output.
 */
function estimatedOutput(
  state: GenerationState,
  counted: CountedTokens | null,
): Pick<TokenUsage, 'outputTokens' | 'reasoningTokens'> {
  const { begunUsage: begun, doubt } = state;
  if (doubt === 'input' && begun !== null && state.deltas <= state.reportedDeltas) {
    return { outputTokens: begun.outputTokens, reasoningTokens: begun.reasoningTokens };
  }
  const told = state.usage ?? zeroUsage;
  const reasoning = Math.max(counted?.reasoning ?? 0, told.reasoningTokens);
  const toldOutput = told.outputTokens - (told.reasoningTokens > 0 ? 0 : reasoning);
  const output = Math.max(counted?.output ?? deliveredTokens(state), toldOutput);
  const ceiling = state.spec.outputTokensCeiling;
  const reasoningTokens = Math.min(reasoning, ceiling);
  return { outputTokens: Math.min(output, ceiling - reasoningTokens), reasoningTokens };
}

/** More is in no wallet, and could not be stored: a settlement of it would be tried for ever. */
const microsMax = BigInt(Number.MAX_SAFE_INTEGER);

/** What the price of an answer depends on, beside its usage. */
interface Priced {
  model: { card: CompiledCard };
  /** The wallet has cut it short. */
  exhausted: boolean;
  funds: { heldMicros: bigint };
}

/** Charge and provider cost. An answer that the wallet cut short never costs more than was held. */
export function costOf(state: Priced, calls: readonly TokenUsage[]): Charge {
  const cost = chargeCalls(state.model.card, calls);
  const mostMicros = state.exhausted ? lesser(state.funds.heldMicros, microsMax) : microsMax;
  return {
    chargeMicros: lesser(cost.chargeMicros, mostMicros),
    providerCostMicros: lesser(cost.providerCostMicros, mostMicros),
  };
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
