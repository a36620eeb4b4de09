// The neutral request → a call of POST /chat/completions. A client of the same format keeps what it
// wrote, members that nobody here knows included; what is ours is taken out.
import {
  type GenerationRequest,
  isForwardable,
  type OutputFormat,
} from '../../../model/request.ts';
import type { Members } from '../../../transport/members.ts';
import type { CallOptions, UpstreamCall, UpstreamQuirks, UpstreamTarget } from '../contract.ts';
import { foreignTo } from '../foreign.ts';
import { loosened } from '../strict-schema.ts';
import { encodeMessages, encodeSettings } from './translate.ts';

/** Members of the service's own request, and those that are written anew below. */
const ownMembers: ReadonlySet<string> = new Set([
  '__proto__',
  'client_context',
  'conversation_id',
  'input',
  'instructions',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tokens',
  'messages',
  'metadata',
  'model',
  'n',
  'optimization',
  'request_id',
  'response_format',
  // Another tier has another price than the one that is charged.
  'service_tier',
  // What the provider keeps would be the operator's, out of every account's reach.
  'store',
  'stream',
  'stream_options',
  'text',
  'web_search',
]);

/** Encodes a streamed call. */
export function encodeRequest(
  asked: GenerationRequest,
  target: UpstreamTarget,
  { outputTokensMax, nativeSearch, reasons = false }: CallOptions,
): UpstreamCall {
  const request = loosened(asked);
  const quirks = quirksOf(target);
  const isSameFormat = request.source.format === 'chat';
  const source = isSameFormat ? request.source.body : {};
  const body: Members = { model: target.upstreamModel };
  body.messages = isForwardable(request, 'chat')
    ? messagesOf(source)
    : encodeMessages(request.messages);
  if (isSameFormat) {
    for (const name of Object.keys(source)) {
      if (!ownMembers.has(name)) body[name] = source[name];
    }
  } else encodeSettings(request, body, reasons);
  if (nativeSearch) body.web_search_options ??= {};
  body[ceilingName(source, quirks)] = outputTokensMax;
  const format = source.response_format ?? responseFormat(request.outputFormat);
  if (format !== null) body.response_format = format;
  body.stream = true;
  body.stream_options = quirks.obfuscationSwitch
    ? { include_usage: true, include_obfuscation: false }
    : { include_usage: true };
  return {
    method: 'POST',
    url: `${target.baseUrl.replace(/\/+$/, '')}/chat/completions`,
    headers: headersOf(target),
    body,
  };
}

/** The path of what this format has no form for. */
export function lacks(request: GenerationRequest): string | null {
  return foreignTo(request, 'chat');
}

function headersOf(target: UpstreamTarget): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'accept-encoding': 'identity',
    'user-agent': 'tollgate/1.0',
  };
  if (target.apiKey !== null) headers.authorization = `Bearer ${target.apiKey}`;
  return headers;
}

/** Known hosts have quirks of their own; what the configuration says comes first. */
function quirksOf(target: UpstreamTarget): UpstreamQuirks {
  const vendorApi = target.baseUrl.startsWith('https://api.openai.com/');
  return {
    obfuscationSwitch: target.quirks?.obfuscationSwitch ?? vendorApi,
    outputCeiling:
      target.quirks?.outputCeiling ?? (vendorApi ? 'max_completion_tokens' : 'max_tokens'),
  };
}

function ceilingName(source: Members, quirks: UpstreamQuirks): UpstreamQuirks['outputCeiling'] {
  if (typeof source.max_completion_tokens === 'number') return 'max_completion_tokens';
  if (typeof source.max_tokens === 'number') return 'max_tokens';
  return quirks.outputCeiling;
}

/** `instructions` has no place in this format but a system message in front. */
function messagesOf(source: Members): unknown {
  const { instructions, messages } = source;
  if (typeof instructions !== 'string' || !Array.isArray(messages)) return messages;
  return [{ role: 'system', content: instructions }, ...messages];
}

function responseFormat(format: OutputFormat): Members | null {
  if (format.type === 'text') return null;
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, schema, strict } };
}
