// The response object: what a whole reply is, and what the lifecycle events of a stream carry. It
// repeats the request, so that a stored response says what it was asked.
import type { Problem } from '../../../../runtime/problem.ts';
import type { Answer } from '../../answer.ts';
import { chatError } from '../chat/error.ts';
import type { Receipt, ReplyIdentity, ReplyOptions } from '../contract.ts';
import { responseId } from './ids.ts';
import { declaredTools } from './late-tools.ts';
import { namespacesOf } from './namespaces.ts';
import { type ItemStatus, outputItems } from './output.ts';
import {
  numberOr,
  textOrNull,
  wholeChoice,
  wholeReasoning,
  wholeText,
  wholeTools,
} from './repeated.ts';
import { responseUsage } from './usage.ts';

export type ResponseStatus =
  | 'queued'
  | 'in_progress'
  | 'completed'
  | 'incomplete'
  | 'cancelled'
  | 'failed';

type Members = Record<string, unknown>;

/** How a good end is called in this format: a cut answer is incomplete. */
export function statusOf(answer: Answer): 'completed' | 'incomplete' {
  const { finishReason } = answer;
  return finishReason === 'length' || finishReason === 'content_filter'
    ? 'incomplete'
    : 'completed';
}

/**
 * The response of one generation at one moment. `receipt` null: nothing is settled yet. `problem`
 * says why a `failed` one failed.
 */
export function responseObject(
  identity: ReplyIdentity,
  options: Pick<ReplyOptions, 'request' | 'seals'>,
  answer: Answer,
  receipt: Receipt | null,
  status: ResponseStatus,
  problem: Problem | null = null,
): Members {
  const { request } = options;
  const body: Members = request.source.body;
  const response: Members = {
    id: responseId(identity.requestId),
    object: 'response',
    created_at: identity.createdAt,
    completed_at: status === 'completed' ? (answer.settledAt ?? null) : null,
    status,
    background: body.background === true,
    error: problem === null ? null : responseError(problem),
    frequency_penalty: numberOr(body.frequency_penalty, 0),
    incomplete_details: status === 'incomplete' ? incompleteDetails(answer) : null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: numberOr(body.max_tool_calls, null),
    model: identity.model,
    output: outputItems(answer, {
      requestId: identity.requestId,
      seals: options.seals,
      unsealed: !wantsSeal(body),
      lastStatus: itemStatus(status),
      namespaces: namespacesOf(declaredTools(request.source)),
    }),
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: numberOr(body.presence_penalty, 0),
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: textOrNull(body.prompt_cache_key),
    reasoning: wholeReasoning(body.reasoning),
    safety_identifier: textOrNull(body.safety_identifier),
    // Another tier has another price than the one that is charged: no provider is asked for one.
    service_tier: 'default',
    store: body.store !== false,
    temperature: numberOr(body.temperature, 1),
    text: wholeText(body, request.outputFormat),
    tool_choice: wholeChoice(body.tool_choice),
    tools: wholeTools(body.tools),
    top_logprobs: numberOr(body.top_logprobs, 0),
    top_p: numberOr(body.top_p, 1),
    truncation: body.truncation ?? 'disabled',
    usage: receipt === null ? null : responseUsage(receipt.usage),
    metadata: body.metadata ?? {},
  };
  if (typeof body.user === 'string') response.user = body.user;
  const { moderation } = ownMembers(answer);
  if (moderation !== undefined) response.moderation = moderation;
  if (receipt === null) return response;
  response.svc_usage = receipt.svcUsage;
  if (receipt.svcRouting !== null) response.svc_routing = receipt.svcRouting;
  return response;
}

/**
 * Whether the client is told what a provider needs to take reasoning back. It says so (`include`),
 * or it carries the conversation itself: what is not stored nobody could look up.
 */
export function wantsSeal({ include, store }: Members): boolean {
  if (store === false) return true;
  return Array.isArray(include) && include.includes('reasoning.encrypted_content');
}

function responseError(problem: Problem): Members {
  const { code, message, type, param } = chatError(problem);
  return { code, message, type, param };
}

function incompleteDetails(answer: Answer): unknown {
  const { finishReason } = answer;
  const own = ownMembers(answer).incomplete_details;
  if (own !== undefined) return own;
  return { reason: finishReason === 'content_filter' ? finishReason : 'max_output_tokens' };
}

/** What the upstream's end of the same format said in its own words. */
function ownMembers({ finishNative }: Answer): Members {
  return finishNative?.format === 'responses' ? finishNative.value : {};
}

function itemStatus(status: ResponseStatus): ItemStatus {
  if (status === 'completed') return 'completed';
  return status === 'in_progress' || status === 'queued' ? 'in_progress' : 'incomplete';
}
