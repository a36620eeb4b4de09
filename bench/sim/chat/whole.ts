// Renders a plan as one chat.completion object.
import { type Plan, type PlanUsage, planText, reasoningText } from '../answer.ts';
import { unknownMembers } from '../unknown.ts';
import type { ChatRequest } from './request.ts';

export interface ChatIdentity {
  id: string;
  createdAt: number;
  requestId: string;
  callId(index: number): string;
}

export const fingerprint = 'fp_51m0fa7edb';

export function finishReason(plan: Plan): string {
  return plan.end === 'length' || plan.end === 'tool_calls' ? plan.end : 'stop';
}

export function usageMembers(usage: PlanUsage): Record<string, unknown> {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

export function wholeCompletion(request: ChatRequest, identity: ChatIdentity): string {
  const { plan } = request;
  const calls = plan.calls.map(({ name, argumentText }, index) => ({
    id: identity.callId(index),
    type: 'function',
    function: { name, arguments: argumentText },
  }));
  const text = planText(plan);
  const refused = plan.end === 'refusal';
  const unknown = request.directive.unknown ? unknownMembers : {};
  const message = {
    role: 'assistant',
    content: calls.length > 0 || refused ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    refusal: refused ? text : null,
    annotations: [],
    ...(plan.reasoningCount > 0 ? { reasoning_content: reasoningText(plan) } : {}),
    ...unknown,
  };
  const completion = {
    id: identity.id,
    object: 'chat.completion',
    created: identity.createdAt,
    model: request.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(plan) }],
    ...(request.directive.fault === 'no_usage' ? {} : { usage: usageMembers(plan.usage) }),
    service_tier: 'default',
    system_fingerprint: fingerprint,
    ...unknown,
  };
  return JSON.stringify(completion);
}
