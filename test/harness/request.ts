// Neutral requests for tests: what a test does not name is as if the client had not said it.
import assert from 'node:assert/strict';
import type { ReplyOptions } from '../../media/model/dialects/contract.ts';
import {
  type GenerationRequest,
  type Message,
  noControls,
  noSampling,
} from '../../media/model/request.ts';
import { createSeals, type Seals, type SealsOptions } from '../../media/model/seals.ts';
import type {
  CallOptions,
  ProviderFamily,
  UpstreamCall,
  UpstreamTarget,
} from '../../media/providers/generation/contract.ts';
import { createSealer } from '../../runtime/seal.ts';

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

/** The call of a request in the form that its provider takes. */
export function encodeFitted(
  family: ProviderFamily,
  request: GenerationRequest,
  target: UpstreamTarget,
  options: CallOptions,
): UpstreamCall {
  const fitted = family.fit(request, target, options);
  assert.ok('request' in fitted, `refused at ${JSON.stringify(fitted)}`);
  return family.encodeRequest(fitted.request, target, options);
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

const sealer = createSealer(Buffer.alloc(32, 7).toString('base64url'));

/** The seals of an account under a key that all tests of a process share. */
export function accountSeals(accountId = 'acc_1', change: Partial<SealsOptions> = {}): Seals {
  return createSeals({
    sealer,
    previousSealer: null,
    unboundUntilMs: () => 0,
    clock: () => 0,
    openedMax: 100_000,
    refused: () => {},
    ...change,
  })(accountId);
}

export function replyOptions(change: Partial<ReplyOptions> = {}): ReplyOptions {
  const seals = accountSeals();
  return { includeUsage: false, request: neutralRequest(), seals, startingAfter: null, ...change };
}
