// The end of a finished generation as the database has it, told again byte by byte: members are
// read one by one, since jsonb has an order of its own.
import { strict as assert } from 'node:assert';
import type { Generation } from '../../db/generations.ts';
import { type Answer, emptyAnswer } from '../../media/model/answer.ts';
import type { SvcRouting, SvcUsage } from '../../media/model/dialects/contract.ts';
import type { TokenUsage } from '../../media/model/usage.ts';
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import type { GenerationEnd } from '../subscriber/protocol.ts';

/** The end of a finished generation as it is told again: marked as a replay, unless it is read. */
export function storedEnd(row: Generation, replayed = true): GenerationEnd {
  const answer = row.answerJson === null ? emptyAnswer() : (JSON.parse(row.answerJson) as Answer);
  if (row.usageJson === null || row.status === 'running' || row.status === 'failed') {
    const problem =
      row.problemJson === null
        ? plainProblem('internal')
        : (JSON.parse(row.problemJson) as PlainProblem);
    const svcUsage = storedUsage(row, replayed);
    return { status: 'failed', problem, answer, svcUsage, svcRouting: storedRouting(row) };
  }
  const svcUsage = storedUsage(row, replayed);
  assert(svcUsage !== null, 'a finished generation has its usage');
  // Answers of older builds have no time of their own.
  if (row.finishedAt !== null) answer.settledAt ??= Math.floor(row.finishedAt.getTime() / 1_000);
  return {
    status: row.status,
    answer,
    receipt: { usage: tokenUsage(svcUsage), svcUsage, svcRouting: storedRouting(row) },
  };
}

function storedUsage(row: Generation, replayed: boolean): SvcUsage | null {
  if (row.usageJson === null) return null;
  const stored = JSON.parse(row.usageJson) as SvcUsage;
  const told: SvcUsage = {
    request_id: stored.request_id,
    model: stored.model,
    input_tokens: stored.input_tokens,
    cached_input_tokens: stored.cached_input_tokens,
    cache_write_tokens: stored.cache_write_tokens,
    output_tokens: stored.output_tokens,
    reasoning_tokens: stored.reasoning_tokens,
    search_calls: stored.search_calls,
    charge_microcredits: stored.charge_microcredits,
    wallet_type: stored.wallet_type,
    source: stored.source,
    credits_exhausted: stored.credits_exhausted,
    replayed,
    simulated: stored.simulated,
  };
  if (stored.tool_calls !== undefined) told.tool_calls = stored.tool_calls;
  return told;
}

function storedRouting(row: Generation): SvcRouting | null {
  if (row.routingJson === null) return null;
  const stored = JSON.parse(row.routingJson) as SvcRouting;
  const { latency_ms: latency, usage } = stored;
  return {
    receipt_id: stored.receipt_id,
    selected_model: stored.selected_model,
    decision_category: stored.decision_category,
    outcome: stored.outcome,
    policy_version: stored.policy_version,
    catalog_version: stored.catalog_version,
    sticky: stored.sticky,
    fallbacks: stored.fallbacks,
    latency_ms: {
      decision: latency.decision,
      first_token: latency.first_token,
      total: latency.total,
    },
    usage: {
      input_tokens: usage.input_tokens,
      cached_input_tokens: usage.cached_input_tokens,
      cache_write_tokens: usage.cache_write_tokens,
      output_tokens: usage.output_tokens,
      reasoning_tokens: usage.reasoning_tokens,
      search_calls: usage.search_calls,
    },
    charge_microcredits: stored.charge_microcredits,
  };
}

function tokenUsage(svcUsage: SvcUsage): TokenUsage {
  return {
    inputTokens: svcUsage.input_tokens,
    cachedInputTokens: svcUsage.cached_input_tokens,
    cacheWriteTokens: svcUsage.cache_write_tokens,
    outputTokens: svcUsage.output_tokens,
    reasoningTokens: svcUsage.reasoning_tokens,
    searchCalls: svcUsage.search_calls,
  };
}
