// Renders a plan as one response object: reasoning, searches, then a message or tool calls.
import { type Plan, planText } from '../answer.ts';
import type { PlannedCall } from '../directive.ts';
import type { Members } from '../members.ts';
import { resultOf } from '../results.ts';
import { unknownMembers } from '../unknown.ts';
import { failedMember } from './failure.ts';
import type { ResponsesRequest } from './request.ts';
import { sealed } from './seal.ts';

export interface ResponsesIdentity {
  id: string;
  createdAt: number;
  requestId: string;
  itemId(kind: 'rs' | 'ws' | 'msg' | 'fc' | 'ctc' | 'sim', index: number): string;
  callId(index: number): string;
}

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

const sourcesPerSearch = 3;

export function wholeResponse(request: ResponsesRequest, identity: ResponsesIdentity): string {
  const output = outputOf(request, identity);
  return responseJson(request, identity, endStatus(request.plan), output);
}

export function endStatus(plan: Plan): ResponseStatus {
  return plan.end === 'length' ? 'incomplete' : 'completed';
}

/** The response object as JSON, at any moment of its life. */
export function responseJson(
  request: ResponsesRequest,
  identity: ResponsesIdentity,
  status: ResponseStatus,
  output: readonly Members[],
): string {
  const { plan, directive } = request;
  const ended = status === 'completed' || status === 'incomplete';
  return JSON.stringify({
    id: identity.id,
    object: 'response',
    created_at: identity.createdAt,
    status,
    completed_at: status === 'completed' ? Math.floor(Date.now() / 1000) : null,
    error: status === 'failed' ? failedMember : null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    model: request.model,
    output,
    ...request.echo,
    tool_usage: toolUsage(ended ? plan.searchCount : 0),
    usage: ended && directive.fault !== 'no_usage' ? usageMembers(plan) : null,
    user: null,
    ...(directive.unknown ? unknownMembers : {}),
  });
}

function usageMembers({ usage }: Plan): Members {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

function toolUsage(searchCount: number): Members {
  const none = { image_tokens: 0, text_tokens: 0 };
  return {
    image_gen: { input_tokens: 0, input_tokens_details: none, output_tokens: 0, total_tokens: 0 },
    web_search: { num_requests: searchCount },
  };
}

/** Every item in its final state, in the order in which they are streamed. */
export function outputOf(request: ResponsesRequest, identity: ResponsesIdentity): Members[] {
  const { plan } = request;
  const output: Members[] = [];
  if (plan.reasoningCount > 0) output.push(reasoningItem(request, identity));
  for (let index = 0; index < plan.searchCount; index += 1) {
    output.push(searchItem(request, identity, index));
  }
  if (request.directive.unknown) output.push(strangeItem(identity));
  if (plan.calls.length === 0) output.push(messageItem(request, identity));
  plan.calls.forEach((call, index) => {
    output.push(callItem(request, identity, call, index));
  });
  return output;
}

/** The texts of the summary's parts; a long one has two. */
export function summaryTexts(request: ResponsesRequest): string[][] {
  const count = request.summarize ? request.plan.reasoningCount : 0;
  const pieces = Array.from({ length: count }, (_, index) => ` r${index}`);
  const half = Math.ceil(count / 2);
  if (count === 0) return [];
  return count < 4 ? [pieces] : [pieces.slice(0, half), pieces.slice(half)];
}

function reasoningItem(request: ResponsesRequest, identity: ResponsesIdentity): Members {
  const id = identity.itemId('rs', 0);
  const parts = summaryTexts(request);
  return {
    id,
    type: 'reasoning',
    summary: parts.map((pieces) => ({ type: 'summary_text', text: pieces.join('') })),
    ...(request.seal ? { encrypted_content: sealed(id) } : {}),
  };
}

function searchItem(
  request: ResponsesRequest,
  identity: ResponsesIdentity,
  index: number,
): Members {
  const query = queryOf(request, index);
  const count = request.directive.empty ? 0 : sourcesPerSearch;
  const sources = Array.from({ length: count }, (_, at) => ({
    type: 'url',
    url: resultOf(query, at + 1).link,
  }));
  return {
    id: identity.itemId('ws', index),
    type: 'web_search_call',
    status: 'completed',
    action: {
      type: 'search',
      query,
      queries: [query],
      ...(request.listSources ? { sources } : {}),
    },
  };
}

function strangeItem(identity: ResponsesIdentity): Members {
  return { id: identity.itemId('sim', 0), type: 'sim_unknown_item', ...unknownMembers };
}

function messageItem(request: ResponsesRequest, identity: ResponsesIdentity): Members {
  return {
    id: identity.itemId('msg', 0),
    type: 'message',
    status: endStatus(request.plan),
    content: [contentPart(request, planText(request.plan))],
    role: 'assistant',
  };
}

/** The one part of a message; without text, as it begins. */
export function contentPart(request: ResponsesRequest, text: string): Members {
  if (request.plan.end === 'refusal') return { type: 'refusal', refusal: text };
  const annotations = text === '' ? [] : annotationsOf(request, text.length);
  const { pieceCount, piece } = request.plan;
  const pieces = Array.from({ length: text === '' ? 0 : pieceCount }, (_, index) => piece(index));
  const logprobs = pieces.flatMap((token) => scoresOf(request, token, true));
  return { type: 'output_text', annotations, logprobs, text };
}

/** The logprob of one token, where they were asked for. Those of deltas are without its bytes. */
export function scoresOf({ scores }: ResponsesRequest, token: string, bytes: boolean): Members[] {
  if (scores === null) return [];
  const entry = (text: string, logprob: number) => {
    return { token: text, ...(bytes ? { bytes: [...Buffer.from(text)] } : {}), logprob };
  };
  const others = Array.from({ length: scores }, (_, index) => {
    return entry(index === 0 ? token : ` o${index}`, -0.25 * (index + 1));
  });
  return [{ ...entry(token, -0.25), top_logprobs: others }];
}

/** One citation a search; none when nothing was found. */
export function annotationsOf(request: ResponsesRequest, textLength: number): Members[] {
  const count = request.directive.empty ? 0 : request.plan.searchCount;
  return Array.from({ length: count }, (_, index) => {
    const { link, title } = resultOf(queryOf(request, index), 1);
    return { type: 'url_citation', start_index: 0, end_index: textLength, title, url: link };
  });
}

function callItem(
  request: ResponsesRequest,
  identity: ResponsesIdentity,
  call: PlannedCall,
  index: number,
): Members {
  const tool = request.tools.get(call.name);
  const custom = tool?.custom === true;
  const namespace = tool?.namespace ?? null;
  return {
    id: identity.itemId(custom ? 'ctc' : 'fc', index),
    ...(custom
      ? { type: 'custom_tool_call', input: call.argumentText }
      : { type: 'function_call', status: 'completed', arguments: call.argumentText }),
    call_id: identity.callId(index),
    name: call.name,
    ...(namespace === null ? {} : { namespace }),
  };
}

function queryOf(request: ResponsesRequest, index: number): string {
  return index === 0 ? request.searchQuery : `${request.searchQuery} ${index + 1}`;
}
