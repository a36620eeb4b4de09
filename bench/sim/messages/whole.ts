// Renders a plan as one message object: thinking, searches with their results, text, tool calls.
import { type Plan, type PlanUsage, planText, reasoningText, refusalText } from '../answer.ts';
import { resultOf } from '../results.ts';
import { unknownMembers } from '../unknown.ts';
import type { MessagesRequest } from './request.ts';
import { signatureOf } from './signature.ts';

export interface MessagesIdentity {
  id: string;
  requestId: string;
  callId(index: number): string;
  searchId(index: number): string;
}

type Block = Readonly<Record<string, unknown>>;

const direct = { type: 'direct' };
const resultsPerSearch = 3;

export function wholeMessage(request: MessagesRequest, identity: MessagesIdentity): Block {
  const { plan, directive } = request;
  return {
    ...openMessage(request, identity),
    content: contentOf(request, identity),
    ...stopMembers(plan),
    ...(directive.fault === 'no_usage'
      ? {}
      : { usage: fullUsage(plan, plan.usage, plan.usage.outputTokens) }),
  };
}

/** The members that are known before anything was said. */
export function openMessage(request: MessagesRequest, identity: MessagesIdentity): Block {
  return {
    id: identity.id,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: [],
    container: null,
    diagnostics: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    ...(request.directive.unknown ? unknownMembers : {}),
  };
}

export function stopMembers(plan: Plan): Block {
  const refusal = { type: 'refusal', category: 'general_harms', explanation: refusalText };
  return {
    stop_reason: stopReasons[plan.end],
    stop_sequence: plan.stopSequence,
    stop_details: plan.end === 'refusal' ? refusal : null,
  };
}

const stopReasons: Readonly<Record<Plan['end'], string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  stop_sequence: 'stop_sequence',
  refusal: 'refusal',
};

/** Input without what the cache read or wrote, as this provider counts. */
export function inputUsage({ inputTokens, cachedTokens, cacheWriteTokens }: PlanUsage): Block {
  return {
    input_tokens: inputTokens - cachedTokens - cacheWriteTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
  };
}

export function outputUsage(plan: Plan): Block {
  const { searchCount, usage } = plan;
  return {
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use:
      searchCount > 0 ? { web_search_requests: searchCount, web_fetch_requests: 0 } : null,
  };
}

export function fullUsage(plan: Plan, usage: PlanUsage, outputTokens: number): Block {
  return {
    ...inputUsage(usage),
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens,
      ephemeral_1h_input_tokens: 0,
    },
    ...outputUsage(plan),
    output_tokens: outputTokens,
    service_tier: 'standard',
    inference_geo: 'not_available',
    speed: 'standard',
  };
}

function contentOf(request: MessagesRequest, identity: MessagesIdentity): Block[] {
  const { plan, directive } = request;
  const content: Block[] = [];
  if (plan.reasoningCount > 0) content.push(thinkingBlock(request));
  for (let index = 0; index < plan.searchCount; index += 1) {
    content.push(searchCall(request, identity, index), searchResults(request, identity, index));
  }
  if (plan.pieceCount > 0) {
    const citations = plan.searchCount > 0 ? citationsOf(request) : null;
    content.push({ type: 'text', text: planText(plan), citations });
  }
  if (directive.unknown) content.push(unknownBlock);
  plan.calls.forEach((call, index) => {
    const input = parsed(call.argumentText);
    content.push({ ...callBlock(call.name, identity.callId(index)), input });
  });
  return content;
}

export const unknownBlock: Block = { type: 'sim_unknown_block', ...unknownMembers };

export function thinkingBlock(request: MessagesRequest): Block {
  const thinking = request.thinkingHidden ? '' : reasoningText(request.plan);
  return { type: 'thinking', thinking, signature: signatureOf(thinking) };
}

export function callBlock(name: string, id: string): Block {
  return { type: 'tool_use', id, name, input: {}, caller: direct };
}

export function searchCall(
  request: MessagesRequest,
  identity: MessagesIdentity,
  index: number,
): Block {
  const input = { query: queryOf(request, index) };
  return {
    type: 'server_tool_use',
    id: identity.searchId(index),
    name: 'web_search',
    input,
    caller: direct,
  };
}

export function searchResults(
  request: MessagesRequest,
  identity: MessagesIdentity,
  index: number,
): Block {
  const query = queryOf(request, index);
  const count = request.directive.empty ? 0 : resultsPerSearch;
  const content = Array.from({ length: count }, (_, at) => {
    const { link, title, hash } = resultOf(query, at + 1);
    return {
      type: 'web_search_result',
      url: link,
      title,
      encrypted_content: `EqgfCioIARgB${hash.toString(36)}`,
      page_age: null,
    };
  });
  return {
    type: 'web_search_tool_result',
    tool_use_id: identity.searchId(index),
    content,
    caller: direct,
  };
}

/** One citation a search; none when nothing was found. */
export function citationsOf(request: MessagesRequest): Block[] {
  const count = request.directive.empty ? 0 : request.plan.searchCount;
  return Array.from({ length: count }, (_, index) => {
    const { link, title, snippet, hash } = resultOf(queryOf(request, index), 1);
    return {
      type: 'web_search_result_location',
      cited_text: snippet,
      url: link,
      title,
      encrypted_index: `Eo8BCioIAhgB${hash.toString(36)}`,
    };
  });
}

function queryOf(request: MessagesRequest, index: number): string {
  return index === 0 ? request.searchQuery : `${request.searchQuery} ${index + 1}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
