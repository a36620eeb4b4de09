// The neutral request → a call of :streamGenerateContent. The model stands in the path, and the key
// in a header of its own.
import type { GenerationRequest } from '../../../model/request.ts';
import type { Members } from '../../../transport/members.ts';
import type { CallOptions, UpstreamCall, UpstreamTarget } from '../contract.ts';
import { asksToCompact, untoldPath } from '../foreign.ts';
import { modelPath } from './model.ts';
import { isExpressible } from './parts.ts';
import { encodeSettings, encodeTools } from './settings.ts';
import { encodeMessages } from './translate.ts';

/** Encodes a streamed call. */
export function encodeRequest(
  request: GenerationRequest,
  target: UpstreamTarget,
  options: CallOptions,
): UpstreamCall {
  const body: Members = {
    ...encodeInput(request, target.upstreamModel, options.nativeSearch),
    generationConfig: encodeSettings(request, target.upstreamModel, options),
  };
  return callOf(target, 'streamGenerateContent?alt=sse', body, 'text/event-stream');
}

/** What counts as input: contents, instructions, tools. */
export function encodeInput(request: GenerationRequest, model: string, search: boolean): Members {
  const { contents, systemInstruction } = encodeMessages(request.messages, model);
  const input: Members = { contents, ...encodeTools(request, search) };
  if (systemInstruction !== null) input.systemInstruction = systemInstruction;
  return input;
}

const toolName = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/;

/** The path of what this format has no form for. */
export function lacks(request: GenerationRequest): string | null {
  const { nativeTools, tools } = request;
  const isNeeded = nativeTools.some(({ isOptional }) => isOptional !== true);
  if (isNeeded || tools.some(({ name }) => !toolName.test(name))) return 'tools';
  return asksToCompact(request) ? 'compaction' : untoldPath(request, isExpressible);
}

/** `method` follows the model's path after a colon. */
export function callOf(
  target: UpstreamTarget,
  method: string,
  body: Members,
  accept: string,
): UpstreamCall {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept,
    'accept-encoding': 'identity',
    'user-agent': 'tollgate/1.0',
  };
  if (target.apiKey !== null) headers['x-goog-api-key'] = target.apiKey;
  const base = target.baseUrl.replace(/\/+$/, '');
  return {
    method: 'POST',
    url: `${base}/${modelPath(target.upstreamModel)}:${method}`,
    headers,
    body,
  };
}
