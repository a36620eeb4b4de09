// The neutral request → a call of :streamGenerateContent. The model stands in the path, and the key
// in a header of its own.
import type { GenerationRequest } from '../../../model/request.ts';
import type { Members } from '../../../transport/members.ts';
import type { CallOptions, UpstreamCall, UpstreamTarget } from '../contract.ts';
import { modelPath } from './model.ts';
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
