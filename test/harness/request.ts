// Neutral requests for tests: what a test does not name is as if the client had not said it.
import type { ReplyOptions } from '../../media/model/dialects/contract.ts';
import {
  type GenerationRequest,
  type Message,
  noControls,
  noSampling,
} from '../../media/model/request.ts';
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';

export function neutralRequest(change: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    model: 'alias',
    messages: [],
    tools: [],
    nativeTools: [],
    toolChoice: null,
    parallelToolCalls: null,
    outputFormat: { type: 'text' },
    outputTokensMax: null,
    sampling: noSampling,
    reasoning: null,
    controls: noControls,
    source: { format: 'chat', body: {}, headers: {}, rewritten: false },
    ...change,
  };
}

/** A request in the Chat Completions format with this body. */
export function chatSource(body: Record<string, unknown>): GenerationRequest['source'] {
  return { format: 'chat', body, headers: {}, rewritten: false };
}

/** A provider of this family that nobody calls. */
export function upstreamTarget(family: string): UpstreamTarget {
  return {
    routeId: 'r',
    family,
    baseUrl: 'http://localhost:1234/v1/',
    apiKey: 'secret',
    upstreamModel: 'upstream-model',
  };
}

export function userMessage(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }], toolCalls: [], toolCallId: null };
}

export function replyOptions(change: Partial<ReplyOptions> = {}): ReplyOptions {
  return { includeUsage: false, request: neutralRequest(), startingAfter: null, ...change };
}
