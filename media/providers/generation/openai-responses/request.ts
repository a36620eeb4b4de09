// The neutral request → a call of POST /responses. A client of the same format keeps what it wrote,
// as far as its members may pass; what is ours is taken out, and nothing is stored.
import { type GenerationRequest, isForwardable, type Reasoning } from '../../../model/request.ts';
import { isSearchTool } from '../../../model/search-tools.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import type { CallOptions, TokenCounting, UpstreamCall, UpstreamTarget } from '../contract.ts';
import { toldReasoning } from '../effort.ts';
import { forwardMembers, isVendor } from '../members.ts';
import { encodeLabels, scoresOf } from '../told.ts';
import { continued, forwardInput } from './input.ts';
import { sayingJson } from './json-word.ts';
import { encodeFormat, encodeMessages, encodeSettings } from './translate.ts';

const metadataControls: ReadonlySet<string> = new Set([
  'require_web_search',
  'intelligent_reroute',
]);
export const outputTokensMin = 16;
const sealedReasoning = 'reasoning.encrypted_content';
/** Models of the vendor that reason; others refuse to be asked for sealed reasoning. */
const reasoningModels = /^(o\d|codex|gpt-(oss|[5-9]|\d\d))/;

/** Encodes a streamed call. */
export function encodeRequest(
  request: GenerationRequest,
  target: UpstreamTarget,
  { outputTokensMax, nativeSearch, reasons = false }: CallOptions,
): UpstreamCall {
  const reasoning = reasoningOf(request, reasons);
  const body = contentOf(request, target, reasoning);
  body.max_output_tokens = Math.max(outputTokensMax, outputTokensMin);
  if (nativeSearch) body.tools = withSearch(body.tools);
  const include = includeOf(request, target, reasoning);
  if (include.length > 0) body.include = include;
  body.store = false;
  body.stream = true;
  if (target.quirks?.obfuscationSwitch ?? isVendor('responses', target)) {
    body.stream_options = { include_obfuscation: false };
  }
  return callOf(target, '/responses', 'text/event-stream', body);
}

export const counting: TokenCounting = {
  encode(request, target) {
    const body = contentOf(request, target, reasoningOf(request, false));
    return callOf(target, '/responses/input_tokens', 'application/json', body);
  },
  read(body) {
    try {
      const parsed: unknown = JSON.parse(body);
      const count = isMembers(parsed) ? parsed.input_tokens : null;
      return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : null;
    } catch {
      return null;
    }
  },
};

const vendors: ReadonlySet<string> = new Set([
  'cache_control',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'top_k',
]);
const others: ReadonlySet<string> = new Set(['cache_control', 'seed', 'top_k']);

/** The vendor has no penalties here; the format of Open Responses has. */
export function leavesOut(
  _request: GenerationRequest,
  target: Pick<UpstreamTarget, 'baseUrl'>,
): ReadonlySet<string> {
  return isVendor('responses', target) ? vendors : others;
}

function encodePenalties({ sampling }: GenerationRequest, body: Members): void {
  const { presencePenalty, frequencyPenalty } = sampling;
  if (presencePenalty !== null) body.presence_penalty = presencePenalty;
  if (frequencyPenalty !== null) body.frequency_penalty = frequencyPenalty;
}

/** A client of the same format says itself what the model is told. */
function reasoningOf(request: GenerationRequest, reasons: boolean): Reasoning | null {
  return toldReasoning(request.reasoning, reasons || request.source.format === 'responses');
}

/** Everything but how the answer is to be delivered. */
function contentOf(
  request: GenerationRequest,
  target: UpstreamTarget,
  reasoning: Reasoning | null,
): Members {
  const isSameFormat = request.source.format === 'responses';
  const source = isSameFormat ? request.source.body : {};
  const body: Members = { model: target.upstreamModel };
  if (isForwardable(request, 'responses')) {
    if (typeof source.instructions === 'string') body.instructions = source.instructions;
    const { input, opened } = request.source;
    body.input =
      input === undefined
        ? forwardInput(opened ?? source.input ?? source.messages)
        : continued(input);
  } else Object.assign(body, encodeMessages(request.messages));
  if (request.outputFormat.type === 'json_object') body.input = sayingJson(body.input);
  if (!isSameFormat) {
    encodeSettings(request, body, reasoning);
    encodeLabels(request, body);
    if (!isVendor('responses', target)) encodePenalties(request, body);
    return body;
  }
  forwardMembers('responses', source, target, body);
  const text = textOf(request, source);
  if (text !== null) body.text = text;
  const metadata = metadataOf(source);
  if (metadata !== null) body.metadata = metadata;
  return body;
}

/** `text` as it holds: response_format goes before text.format. */
function textOf(request: GenerationRequest, source: Members): Members | null {
  const declared = isMembers(source.text) ? source.text : null;
  if (!isMembers(source.response_format)) return declared;
  const { format: _format, ...kept } = declared ?? {};
  const format = encodeFormat(request.outputFormat);
  return format === null ? kept : { ...kept, format };
}

/** Nothing is stored, so reasoning must come sealed to be given back in a later turn. */
function includeOf(
  request: GenerationRequest,
  target: UpstreamTarget,
  reasoning: Reasoning | null,
): unknown[] {
  const { source } = request;
  const declared = source.format === 'responses' ? source.body.include : null;
  const include: unknown[] = Array.isArray(declared) ? [...declared] : [];
  const reasons = reasoning !== null || reasoningModels.test(target.upstreamModel);
  if (source.format === 'chat' && scoresOf(request) !== null) {
    include.push('message.output_text.logprobs');
  }
  if (reasons && !include.includes(sealedReasoning)) include.push(sealedReasoning);
  return include;
}

function withSearch(tools: unknown): unknown[] {
  const declared: unknown[] = Array.isArray(tools) ? tools : [];
  const searches = declared.some((tool) => isMembers(tool) && isSearchTool(tool));
  return searches ? declared : [...declared, { type: 'web_search' }];
}

/** The application's own metadata; the format takes strings alone. */
function metadataOf(source: Members): Members | null {
  if (!isMembers(source.metadata)) return null;
  const entries = Object.entries(source.metadata).filter(
    ([name, value]) => !metadataControls.has(name) && typeof value === 'string',
  );
  return entries.length > 0 ? Object.fromEntries(entries) : null;
}

function callOf(target: UpstreamTarget, path: string, accept: string, body: Members): UpstreamCall {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept,
    'accept-encoding': 'identity',
    'user-agent': 'tollgate/1.0',
  };
  if (target.apiKey !== null) headers.authorization = `Bearer ${target.apiKey}`;
  const url = target.baseUrl.replace(/\/+$/, '') + path;
  return { method: 'POST', url, headers, body };
}
