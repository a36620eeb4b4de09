// The neutral request → a call of POST /messages. A client of the same format keeps what it wrote,
// as far as its members may pass; what is ours, or has another price, is taken out.
import {
  type GenerationRequest,
  isForwardable,
  type OutputFormat,
} from '../../../model/request.ts';
import { searchesMax } from '../../../model/search-tools.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import type { CallOptions, UpstreamCall, UpstreamTarget } from '../contract.ts';
import { forwardMembers } from '../members.ts';
import { takesEffortAlone } from './model.ts';
import { isSigned } from './parts.ts';
import { constrainedSchema } from './schema.ts';
import { encodeSettings } from './settings.ts';
import { boundedThinking, effortFor, mustNotThink, thinkingIn } from './thinking.ts';
import { type Conversation, encodeConversation, isCompacted } from './translate.ts';

const defaultVersion = '2023-06-01';
export const searchName = 'web_search';

/** Encodes a streamed call. */
export function encodeRequest(
  request: GenerationRequest,
  target: UpstreamTarget,
  options: CallOptions,
): UpstreamCall {
  const body = encodeBody(request, target, options);
  body.max_tokens = options.outputTokensMax;
  body.stream = true;
  return callOf(request, target, '/messages', 'text/event-stream', body);
}

/** A call of the endpoint that counts: the same body without what only an answer needs. */
export function encodeCount(request: GenerationRequest, target: UpstreamTarget): UpstreamCall {
  const outputTokensMax = request.outputTokensMax ?? Number.MAX_SAFE_INTEGER;
  const body = encodeBody(request, target, { outputTokensMax, nativeSearch: false });
  for (const name of ['metadata', 'stop_sequences', 'temperature', 'top_k', 'top_p']) {
    delete body[name];
  }
  return callOf(request, target, '/messages/count_tokens', 'application/json', body);
}

/** Whether the provider can be made to keep to the format. */
export function constrains(format: OutputFormat): boolean {
  if (format.type === 'text') return true;
  return format.type === 'json_schema' && constrainedSchema(format.schema) !== null;
}

function callOf(
  request: GenerationRequest,
  target: UpstreamTarget,
  path: string,
  accept: string,
  body: Members,
): UpstreamCall {
  const { headers: given } = request.source;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept,
    'accept-encoding': 'identity',
    'user-agent': 'tollgate/1.0',
    'anthropic-version': given['anthropic-version'] ?? defaultVersion,
  };
  const beta = given['anthropic-beta'];
  if (beta !== undefined && beta !== '') headers['anthropic-beta'] = beta;
  if (target.apiKey !== null) headers['x-api-key'] = target.apiKey;
  const url = target.baseUrl.replace(/\/+$/, '') + path;
  return { method: 'POST', url, headers, body };
}

function encodeBody(
  request: GenerationRequest,
  target: UpstreamTarget,
  options: CallOptions,
): Members {
  const { source } = request;
  const own = source.format === 'messages' ? source.body : {};
  const isForwarded = isForwardable(request, 'messages') && isBeginning(own.messages);
  const { system, messages } = isForwarded
    ? { system: own.system, messages: withoutUnsigned(own.messages) }
    : conversationOf(request);
  const body: Members = { model: target.upstreamModel };
  if (system !== undefined && system !== null) body.system = system;
  body.messages = messages;
  if (source.format === 'messages') {
    forwardMembers('messages', own, target, body);
    const user = isMembers(own.metadata) ? own.metadata.user_id : null;
    if (typeof user === 'string') body.metadata = { user_id: user };
  } else encodeSettings(request, body);
  if (options.nativeSearch) offerSearch(body);
  const turns = Array.isArray(messages) ? messages : [];
  if (source.format === 'messages') {
    setOwnThinking(request, body, turns, options, target.upstreamModel);
  } else setThinking(request, body, turns, options, target.upstreamModel);
  setOutput(request, body);
  return body;
}

/**
 * Our clients may begin with another role, whatever runs the model; the provider refuses it, but
 * for the compaction of what was said before.
 */
function isBeginning(messages: unknown): boolean {
  const first: unknown = Array.isArray(messages) ? messages[0] : null;
  return isMembers(first) && (first.role === 'user' || isCompacted(first));
}

function conversationOf(request: GenerationRequest): {
  system: Conversation['system'] | undefined;
  messages: Conversation['messages'];
} {
  const inPlace = request.source.format === 'messages';
  const { system, messages } = encodeConversation(request.messages, inPlace);
  return { system: system.length === 0 ? undefined : system, messages };
}

/** Thinking that another family's model made has no signature, and would be refused. */
function withoutUnsigned(messages: unknown): unknown {
  if (!Array.isArray(messages)) return messages;
  const unsigned = (block: unknown) => isMembers(block) && !isSigned(block);
  return messages.flatMap((message: unknown) => {
    if (!isMembers(message) || !Array.isArray(message.content)) return [message];
    if (!message.content.some(unsigned)) return [message];
    const content = message.content.filter((block) => !unsigned(block));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

function offerSearch(body: Members): void {
  const tools = Array.isArray(body.tools) ? body.tools : [];
  const offered = tools.some((tool) => isMembers(tool) && tool.name === searchName);
  if (offered) return;
  const search = { type: 'web_search_20250305', name: searchName, max_uses: searchesMax };
  body.tools = [...tools, search];
}

/** Clients that do not know the model behind an alias give a budget, which newer ones refuse. */
function setOwnThinking(
  { source, reasoning }: GenerationRequest,
  body: Members,
  messages: readonly unknown[],
  { outputTokensMax }: CallOptions,
  model: string,
): void {
  const thinking = boundedThinking(source.body.thinking, outputTokensMax);
  if (thinking === null) return;
  if (thinking.type === 'enabled' && mustNotThink(messages, body.tool_choice)) return;
  body.thinking = thinking;
  if (thinking.type !== 'enabled' || !takesEffortAlone(model)) return;
  body.thinking = { type: 'adaptive', display: thinking.display ?? 'summarized' };
  const effort = effortFor(reasoning, model);
  if (effort !== null) body.output_config = { effort };
}

function setThinking(
  request: GenerationRequest,
  body: Members,
  messages: readonly unknown[],
  options: CallOptions,
  model: string,
): void {
  const thinking = thinkingIn(request, messages, body.tool_choice, options, model);
  if (thinking !== null) {
    body.thinking = thinking;
    const effort = thinking.type === 'adaptive' ? effortFor(request.reasoning, model) : null;
    if (effort !== null) body.output_config = { effort };
  } else if (!takesEffortAlone(model)) return;
  // None can be chosen while the model thinks, nor ever with newer ones.
  delete body.temperature;
  delete body.top_k;
  delete body.top_p;
}

/** The format is the neutral one: what the client said about it in three places is read by now. */
function setOutput(request: GenerationRequest, body: Members): void {
  const { source, outputFormat } = request;
  const own = source.format === 'messages' ? source.body.output_config : null;
  const config: Members = isMembers(body.output_config) ? body.output_config : {};
  if (isMembers(own)) Object.assign(config, own);
  delete config.format;
  const schema =
    outputFormat.type === 'json_schema' ? constrainedSchema(outputFormat.schema) : null;
  if (schema !== null) config.format = { type: 'json_schema', schema };
  if (Object.keys(config).length > 0) body.output_config = config;
}
