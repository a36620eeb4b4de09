// The neutral model request: what every inbound format is read into and every family is written
// from. `source` keeps the client's own body, so that a same-format upstream loses nothing.
import type { RoutingPolicy } from './choose/policy.ts';

/** The public wire formats that are also formats of providers. */
export type WireFormat = 'chat' | 'responses' | 'messages';

/** What only upstreams of this format are to be told again; never what is read otherwise. */
export interface NativeMembers {
  own?: { format: WireFormat; value: Record<string, unknown> };
}

/** The Messages member `cache_control`, for upstreams that know it. */
interface CacheMark extends NativeMembers {
  cacheControl?: Record<string, unknown>;
}

export type ContentPart =
  /** `phase`: of the message it is from, where Responses gives it one. `original`: what upstreams
   * of its format are told in place of the text. */
  | ({
      type: 'text';
      text: string;
      phase?: string;
      original?: { format: WireFormat; value: Record<string, unknown> };
    } & CacheMark)
  /** A URL of the web as it was parsed, or a data URL as the client gave it. */
  | ({ type: 'image'; url: string; detail: string | null } & CacheMark)
  /** A document: a URL or a data URL; null name: none was given. */
  | ({ type: 'file'; url: string; name: string | null } & CacheMark)
  /** Understood by upstreams of the same format alone: signed thinking, audio, citations. */
  | { type: 'native'; format: WireFormat; value: Record<string, unknown> };

/** What a server wants back with a turn or a call of its own, and nobody else is told. */
export interface Returned {
  /** Names the server and its model. */
  server: string;
  /** As they stood in its message, or in its call. */
  members: Record<string, unknown>;
}

export interface Message extends CacheMark {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  parts: ContentPart[];
  /** Assistant only. */
  toolCalls: ({
    id: string;
    name: string;
    arguments: string;
    /** As a client of Responses names it, of which `name` is the flat form. */
    inside?: { namespace: string; name: string };
    /** The text that a custom tool was called with. `arguments` are a function's. */
    custom?: string;
    returned?: Returned;
  } & CacheMark)[];
  /** Assistant only: in the order of their parts. */
  returned?: Returned[];
  /** Tool only: the call it answers. */
  toolCallId: string | null;
  /** Tool only: the tool failed (Messages' `is_error`). */
  toolFailed?: boolean;
}

/** What a custom tool is in the formats that have them. */
export interface CustomTool {
  description: string | null;
  /** Responses writes it so. */
  format: Record<string, unknown> | null;
}

export interface FunctionTool extends Pick<CacheMark, 'cacheControl'> {
  name: string;
  description: string | null;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown> | null;
  strict: boolean | null;
  /** It takes free text, in the formats that have such tools: see `custom-tools.ts`. */
  custom?: CustomTool;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };

/** What the answer's text must satisfy; the schema is the client's own (draft 2020-12). */
export type OutputFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | { type: 'json_schema'; name: string; schema: Record<string, unknown>; strict: boolean };

/** How tokens are drawn; null: the client did not say. */
export interface Sampling {
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  seed: number | null;
  presencePenalty: number | null;
  frequencyPenalty: number | null;
  stop: readonly string[];
}

export interface Reasoning {
  /** As providers name it: none, minimal, low, medium, high, xhigh; null: not said. */
  effort: string | null;
  budgetTokens: number | null;
  /** The client wants to see summaries of it. */
  summary: boolean;
}

/** `client_context` of the specification's 2.9; null members: not given. */
export interface ClientContext {
  timezone: string | null;
  utcOffsetMinutes: number | null;
  locale: string | null;
  temperatureUnit: 'celsius' | 'fahrenheit' | null;
  /** Only when the client shares it. */
  location: Record<string, unknown> | null;
}

export interface Optimization {
  profile: 'general' | 'code' | 'research';
  mode: 'off' | 'balanced' | 'aggressive';
  allowLossyContext: boolean;
}

/** What the service itself does with a request; no provider sees it. */
export interface RequestControls {
  /** Null: the service decides. */
  webSearch: boolean | null;
  requireWebSearch: boolean;
  reroute: boolean;
  /** What it narrows the choice of providers and models to; null: it does not. */
  routing: RoutingPolicy | null;
  conversationId: string | null;
  clientContext: ClientContext | null;
  optimization: Optimization;
}

/** A provider's own tool, passed through to upstreams of its format. */
export interface NativeTool {
  format: WireFormat;
  value: Record<string, unknown>;
  /** Where the request declares it, as in `tools[2]`. */
  path: string;
  /** Offered and not insisted on: a model of another format answers without it. */
  isOptional?: boolean;
}

/**
 * Agents declare them with every request, whether the task needs them or not: refusing all of it
 * for their sake helps nobody.
 */
export function isOptionalTool(type: string): boolean {
  return /^(web_search|image_generation|tool_search)(_|$)/.test(type);
}

/** A call is required, and there is nothing else to be called: that chooses these as well. */
export function isDemanded(
  declared: Iterable<{ type: string }>,
  choice: ToolChoice | null,
): boolean {
  if (choice !== 'required') return false;
  for (const { type } of declared) {
    if (!isOptionalTool(type)) return false;
  }
  return true;
}

export interface RequestSource {
  format: WireFormat | 'legacy';
  /** The client's body as it came: unknown members are forwarded to a same-format upstream. */
  body: Record<string, unknown>;
  /** Responses: the turns that it continues, in front of its own input. */
  input?: readonly Record<string, unknown>[];
  /** Responses: its own input with what was sealed opened; null or absent: as it is in the body. */
  opened?: readonly Record<string, unknown>[] | null;
  /** Request headers that a same-format upstream is to see, lower case. */
  headers: Readonly<Record<string, string>>;
  /** `messages` are not the body's any more: every upstream must be written from them. */
  rewritten: boolean;
}

export interface GenerationRequest {
  /** The public alias. */
  model: string;
  messages: Message[];
  tools: FunctionTool[];
  nativeTools: readonly NativeTool[];
  toolChoice: ToolChoice | null;
  /** Null: not said. */
  parallelToolCalls: boolean | null;
  outputFormat: OutputFormat;
  /** The first given of max_output_tokens, max_completion_tokens, max_tokens. */
  outputTokensMax: number | null;
  sampling: Sampling;
  reasoning: Reasoning | null;
  controls: RequestControls;
  source: RequestSource;
}

/** Whether an upstream of this format can be sent the client's own messages as they are. */
export function isForwardable(request: GenerationRequest, format: WireFormat): boolean {
  return request.source.format === format && !request.source.rewritten;
}

export const noSampling: Readonly<Sampling> = Object.freeze({
  temperature: null,
  topP: null,
  topK: null,
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  stop: Object.freeze([]),
});

export const noControls: Readonly<RequestControls> = Object.freeze({
  webSearch: null,
  requireWebSearch: false,
  reroute: false,
  routing: null,
  conversationId: null,
  clientContext: null,
  optimization: Object.freeze({ profile: 'code', mode: 'off', allowLossyContext: false }),
});
