// A dialect is one public wire format: it reads a request body into the neutral request and writes
// answers, streamed and whole. It knows no provider and no money beyond the receipt it is handed.
import type { Problem } from '../../../runtime/problem.ts';
import type { Answer } from '../answer.ts';
import type { ModelEvent, Progress } from '../events.ts';
import type { GenerationRequest, WireFormat } from '../request.ts';
import type { Seals } from '../seals.ts';
import type { TokenUsage, ToolCalls, UsageSource } from '../usage.ts';

/** `svc_usage` (decisions.md, section 5), as it is sent and stored. */
export interface SvcUsage {
  request_id: string;
  model: string;
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  search_calls: number;
  /** Calls of other tools that the provider ran and billed, by type; absent: none. */
  tool_calls?: ToolCalls;
  charge_microcredits: number;
  wallet_type: 'personal' | 'organization';
  source: UsageSource;
  credits_exhausted: boolean;
  replayed: boolean;
  simulated: boolean;
}

/** `svc_routing` (decisions.md, section 5): how a managed route chose. No provider is named. */
export interface SvcRouting {
  receipt_id: string;
  /** A public alias. */
  selected_model: string;
  decision_category: 'sticky' | 'policy' | 'capability' | 'cost' | 'quality' | 'fallback';
  outcome: 'completed' | 'failed' | 'cancelled';
  policy_version: string;
  catalog_version: string;
  sticky: boolean;
  /** Attempts that failed before the one that answered. */
  fallbacks: number;
  latency_ms: { decision: number; first_token: number | null; total: number };
  usage: {
    input_tokens: number;
    cached_input_tokens: number;
    cache_write_tokens: number;
    output_tokens: number;
    reasoning_tokens: number;
    search_calls: number;
  };
  charge_microcredits: number;
}

/** What stands on every reply of one generation, the same on attach and replay. */
export interface ReplyIdentity {
  requestId: string;
  /** The public alias. */
  model: string;
  /** Unix seconds. */
  createdAt: number;
}

export interface Receipt {
  usage: TokenUsage;
  svcUsage: SvcUsage;
  /** Managed routes only. */
  svcRouting: SvcRouting | null;
}

/** What a reply depends on beside its generation. */
export interface ReplyOptions {
  /** Chat's `stream_options.include_usage`. */
  includeUsage: boolean;
  /** The client's own request, for formats whose replies repeat parts of it. */
  request: GenerationRequest;
  /** Seals for the account that is answered. */
  seals: Pick<Seals, 'seal'>;
  /** Responses: events up to this sequence number are counted and left out. */
  startingAfter: number | null;
  /** Responses: what had been told of the answer is lost, and how far it came. */
  isLost?: boolean;
}

/** The members that end a reply of a failed generation beside its error. */
export function failureMembers(
  svcUsage: SvcUsage | null,
  svcRouting: SvcRouting | null,
): { svc_usage?: SvcUsage; svc_routing?: SvcRouting } {
  return {
    ...(svcUsage === null ? {} : { svc_usage: svcUsage }),
    ...(svcRouting === null ? {} : { svc_routing: svcRouting }),
  };
}

/** Writes one subscriber's stream. Stateful: the first text carries the role, indexes are kept. */
export interface StreamEncoder {
  /** SSE text for a run of events; empty when nothing shows. Finish and usage wait for `finish`. */
  events(events: readonly ModelEvent[]): string;
  progress(progress: Progress): string;
  /** The end of a good stream: the last JSON event with `svc_usage`, then the terminator. */
  finish(receipt: Receipt, answer: Answer): string;
  /** The end of a stream that failed after its headers had left; `answer` is what there was. */
  failure(
    problem: Problem,
    svcUsage: SvcUsage | null,
    answer: Answer,
    svcRouting: SvcRouting | null,
  ): string;
}

export interface Dialect<Body> {
  readonly name: WireFormat | 'legacy';
  /** Sent every 15 s on an idle stream, as it is. */
  readonly keepAlive: string;
  /**
   * Throws a Problem with the field's path for what the schema alone cannot refuse. `seals` are of
   * the account that asks: without them nothing sealed is opened.
   */
  readRequest(
    body: Body,
    headers: Readonly<Record<string, string>>,
    seals?: Pick<Seals, 'open'>,
  ): GenerationRequest;
  encoder(identity: ReplyIdentity, options: ReplyOptions): StreamEncoder;
  /** The whole reply as a JSON-able object. */
  whole(
    identity: ReplyIdentity,
    options: ReplyOptions,
    answer: Answer,
    receipt: Receipt,
  ): Record<string, unknown>;
}
