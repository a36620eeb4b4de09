// Renders a plan as one generateContent response: thoughts, text, function calls, why it ended,
// what it was grounded on. Counts of zero are left out, as the provider's encoding does.
import { type Plan, planText, reasoningText } from '../answer.ts';
import type { Members } from '../members.ts';
import { resultOf } from '../results.ts';
import { unknownMembers } from '../unknown.ts';
import type { GeminiRequest } from './request.ts';
import { signatureOf } from './signature.ts';

export interface GeminiIdentity {
  responseId: string;
  callId(index: number): string;
}

const text = 'TEXT';

export function wholeResponse(request: GeminiRequest, identity: GeminiIdentity): Members {
  const { plan, directive } = request;
  const usage = directive.fault === 'no_usage' ? {} : { usageMetadata: usageMembers(plan) };
  const tail = {
    ...usage,
    modelVersion: request.model,
    responseId: identity.responseId,
    ...(directive.unknown ? unknownMembers : {}),
  };
  if (directive.refusal === 'prompt') return { promptFeedback: promptFeedback(), ...tail };
  const parts = partsOf(request, identity);
  const candidate = {
    ...(parts.length > 0 ? { content: { parts, role: 'model' } } : {}),
    ...endMembers(request),
    ...(directive.unknown ? unknownMembers : {}),
  };
  return { candidates: [candidate], ...tail };
}

export function promptFeedback(): Members {
  return { blockReason: 'SAFETY', safetyRatings: safetyRatings() };
}

/** What stands beside the content of the last candidate. */
export function endMembers(request: GeminiRequest): Members {
  const { plan } = request;
  const refused = plan.end === 'refusal';
  const grounded = plan.searchCount > 0;
  return {
    finishReason: refused ? 'SAFETY' : plan.end === 'length' ? 'MAX_TOKENS' : 'STOP',
    index: 0,
    ...(refused ? { safetyRatings: safetyRatings() } : {}),
    ...(grounded ? { groundingMetadata: groundingMetadata(request) } : {}),
  };
}

function safetyRatings(): Members[] {
  const category = 'HARM_CATEGORY_DANGEROUS_CONTENT';
  return [{ category, probability: 'HIGH', blocked: true }];
}

/** Input includes what was cached; candidates are without thoughts; the total has all. */
export function usageMembers({ usage }: Plan): Members {
  const candidateTokens = usage.outputTokens - usage.reasoningTokens;
  const total = usage.inputTokens + usage.outputTokens;
  const counted = (name: string, count: number) => (count > 0 ? { [name]: count } : {});
  const detailed = (name: string, count: number) =>
    count > 0 ? { [name]: [{ modality: text, tokenCount: count }] } : {};
  return {
    promptTokenCount: usage.inputTokens,
    candidatesTokenCount: candidateTokens,
    totalTokenCount: total,
    ...counted('cachedContentTokenCount', usage.cachedTokens),
    ...detailed('promptTokensDetails', usage.inputTokens),
    ...detailed('cacheTokensDetails', usage.cachedTokens),
    ...counted('thoughtsTokenCount', usage.reasoningTokens),
  };
}

function partsOf(request: GeminiRequest, identity: GeminiIdentity): Members[] {
  const { plan } = request;
  const parts: Members[] = [];
  if (plan.reasoningCount > 0 && request.includeThoughts) {
    parts.push({ text: reasoningText(plan), thought: true });
  }
  if (plan.pieceCount > 0) {
    const signature = plan.reasoningCount > 0 ? signatureOf(identity.responseId) : null;
    const signed = signature === null ? {} : { thoughtSignature: signature };
    parts.push({ text: planText(plan), ...signed });
  }
  if (request.directive.unknown) parts.push(strangePart);
  return [...parts, ...callParts(request, identity)];
}

export const strangePart: Members = { simUnknownPart: unknownMembers };

/** Of parallel calls only the first is signed. */
export function callParts(request: GeminiRequest, identity: GeminiIdentity): Members[] {
  return request.plan.calls.map(({ name, argumentText }, index) => ({
    functionCall: { id: identity.callId(index), name, args: parsed(argumentText) },
    ...(index === 0 ? { thoughtSignature: signatureOf(identity.responseId) } : {}),
  }));
}

function groundingMetadata(request: GeminiRequest): Members {
  const { plan, directive, searchQuery } = request;
  const queries = Array.from({ length: plan.searchCount }, (_, index) =>
    index === 0 ? searchQuery : `${searchQuery} ${index + 1}`,
  );
  const results = directive.empty ? [] : queries.map((query) => resultOf(query, 1));
  const answer = planText(plan);
  const segment = { endIndex: Buffer.byteLength(answer), text: answer };
  return {
    searchEntryPoint: { renderedContent: `<div class="container">${queries.length}</div>` },
    groundingChunks: results.map(({ link, domain }) => ({ web: { uri: link, title: domain } })),
    groundingSupports: results.map((_, index) => ({ segment, groundingChunkIndices: [index] })),
    webSearchQueries: queries,
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}
