// The neutral request → a call of POST /chat/completions. A client of the same format keeps what it
// wrote, as far as its members may pass; what is ours is taken out.
import {
  type GenerationRequest,
  isForwardable,
  type OutputFormat,
} from '../../../model/request.ts';
import type { Members } from '../../../transport/members.ts';
import type { CallOptions, UpstreamCall, UpstreamQuirks, UpstreamTarget } from '../contract.ts';
import { forwardMembers, isStrict, isVendor } from '../members.ts';
import { serverName } from '../server-name.ts';
import { encodeLabels, labels, verbosityOf } from '../told.ts';
import { isMistral, needsNewCeiling } from './model.ts';
import { withinRules } from './strict.ts';
import { encodeMessages, encodeSettings } from './translate.ts';

/** Encodes a streamed call. */
export function encodeRequest(
  request: GenerationRequest,
  target: UpstreamTarget,
  { outputTokensMax, nativeSearch, reasons = false }: CallOptions,
): UpstreamCall {
  const isSameFormat = request.source.format === 'chat';
  const source = isSameFormat ? request.source.body : {};
  const body: Members = { model: target.upstreamModel };
  body.messages = isForwardable(request, 'chat')
    ? messagesOf(source)
    : encodeMessages(request.messages, serverName(target));
  if (isSameFormat) {
    forwardMembers('chat', source, target, body);
  } else {
    encodeSettings(request, body, reasons);
    if (isVendor('chat', target)) encodeVendorSettings(request, body);
  }
  if (nativeSearch) body.web_search_options ??= {};
  body[ceilingName(source, target)] = outputTokensMax;
  const format = source.response_format ?? responseFormat(request.outputFormat);
  if (format !== null) body.response_format = format;
  body.stream = true;
  const hasSwitch = target.quirks?.obfuscationSwitch ?? isVendor('chat', target);
  body.stream_options = hasSwitch
    ? { include_usage: true, include_obfuscation: false }
    : { include_usage: true };
  withinRules(body, target, reasons);
  return {
    method: 'POST',
    url: `${target.baseUrl.replace(/\/+$/, '')}/chat/completions`,
    headers: headersOf(target),
    body,
  };
}

const others: ReadonlySet<string> = new Set(['cache_control', 'top_k', 'verbosity', ...labels]);
const vendors: ReadonlySet<string> = new Set(['cache_control', 'top_k']);
const strict: ReadonlySet<string> = new Set([...others, 'logprobs', 'top_logprobs']);

/** Compatible servers refuse many a member that only the vendor knows. */
export function leavesOut(
  _request: GenerationRequest,
  target: Pick<UpstreamTarget, 'baseUrl' | 'quirks'>,
): ReadonlySet<string> {
  if (isStrict(target)) return strict;
  return isVendor('chat', target) ? vendors : others;
}

function encodeVendorSettings(request: GenerationRequest, body: Members): void {
  const verbosity = verbosityOf(request);
  if (verbosity !== null) body.verbosity = verbosity;
  encodeLabels(request, body);
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

/** What the operator said comes first, then what the model or the client is known to say. */
function ceilingName(source: Members, target: UpstreamTarget): UpstreamQuirks['outputCeiling'] {
  const declared = target.quirks?.outputCeiling;
  if (declared !== undefined) return declared;
  if (needsNewCeiling(target.upstreamModel)) return 'max_completion_tokens';
  if (isMistral(target.upstreamModel) || isStrict(target)) return 'max_tokens';
  if (typeof source.max_completion_tokens === 'number') return 'max_completion_tokens';
  if (typeof source.max_tokens === 'number') return 'max_tokens';
  return isVendor('chat', target) ? 'max_completion_tokens' : 'max_tokens';
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
