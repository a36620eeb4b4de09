// `svc_routing`: the receipt of a managed route, built when its usage is known.
import type { SvcRouting } from '../../media/model/dialects/contract.ts';
import type { TokenUsage } from '../../media/model/usage.ts';
import { siblingId } from '../../runtime/ids.ts';
import type { GenerationState } from './state.ts';

/** Null for exact models. */
export function svcRoutingOf(
  state: GenerationState,
  usage: TokenUsage,
  chargeMicros: bigint,
): SvcRouting | null {
  const { spec, outcome, fallbacks, model } = state;
  const { routing } = spec;
  if (routing === null) return null;
  const status = outcome?.status ?? 'completed';
  const isGood = status === 'completed' || status === 'incomplete';
  // One that began to rest after the decision is passed over without an attempt.
  const isDecided = fallbacks === 0 && model.alias === spec.candidates[0]?.model.alias;
  // The generation began when its model was chosen; whoever waited did so from before.
  const begunAtMs = spec.createdAtMs - Math.round(routing.decisionMs);
  return {
    receipt_id: siblingId(spec.id, 'rr'),
    selected_model: model.alias,
    decision_category: isDecided ? routing.decision_category : 'fallback',
    outcome: isGood ? 'completed' : status,
    policy_version: routing.policy_version,
    catalog_version: routing.catalog_version,
    sticky: routing.sticky && isDecided,
    fallbacks,
    latency_ms: {
      decision: routing.decisionMs,
      first_token: state.firstEventMs === null ? null : state.firstEventMs - begunAtMs,
      total: Date.now() - begunAtMs,
    },
    usage: {
      input_tokens: usage.inputTokens,
      cached_input_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      output_tokens: usage.outputTokens,
      reasoning_tokens: usage.reasoningTokens,
      search_calls: usage.searchCalls,
    },
    charge_microcredits: Number(chargeMicros),
  };
}
