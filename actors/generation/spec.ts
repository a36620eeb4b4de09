// What a generation is started with, and what its kind is given by the shard.
import type { SvcRouting } from '../../media/model/dialects/contract.ts';
import type { HostedTool } from '../../media/model/hosted-tools.ts';
import type { GenerationRequest, OutputFormat } from '../../media/model/request.ts';
import type { UpstreamClient } from '../../media/providers/generation/call.ts';
import type { ProviderFamily, UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { GiveawayLimiter } from '../../runtime/limiter/giveaways.ts';
import type { TransientMap } from '../../runtime/transient.ts';
import type { RequestDeps, RequestSpec } from '../billed-request/spec.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { CatalogSurface } from '../catalog/surface.ts';
import type { WebSearch } from '../search/web-search.ts';
import type { SubscriberProtocol } from '../subscriber/protocol.ts';
import type { CountedTokens, GenerationProtocol } from './protocol.ts';
import type { UnreadParts } from './unread.ts';

/** One way to answer: a model, and where it runs. */
export interface Candidate {
  model: CatalogModel;
  target: UpstreamTarget;
}

/** What was decided for a managed route, for its receipt. */
export interface RoutingPlan
  extends Pick<SvcRouting, 'decision_category' | 'sticky' | 'policy_version' | 'catalog_version'> {
  decisionMs: number;
  /** Keeps the conversation with the alias that answered; null: there is none. Never rejects. */
  answered(modelAlias: string): Promise<void> | null;
}

/** A web search before the answer. `required`: without one there is no answer. */
export interface SearchPlan {
  required: boolean;
  /** Null: there is no text to search for, so only a candidate itself may search. */
  query: string | null;
  /** Null: none is configured, only candidates with a search of their own can. */
  target: CatalogSurface | null;
}

/** Starts one generation. It stays on its shard, so it may hold functions and references. */
export interface GenerationSpec extends RequestSpec {
  request: GenerationRequest;
  /** The public alias that was asked for. */
  alias: string;
  /** In the order in which they are tried; never empty. */
  candidates: readonly Candidate[];
  /** Managed routes only. */
  routing: RoutingPlan | null;
  search: SearchPlan | null;
  /** Tools that the provider runs and bills: each of them has a price with every candidate. */
  hosted: readonly HostedTool[];
  inputTokensEstimate: number;
  outputTokensCeiling: number;
  /** The answer may be asked for again: by its idempotency key, or as a stored response. */
  keepsAnswer: boolean;
  /** Runs to its end whoever listens, and remembers in which pieces its answer came. */
  background: boolean;
  /**
   * Stores what the client sent, once for an id: beside the hold where the wallet is rich, else
   * behind it. Null: it is not stored.
   */
  storeRequest: ((requestId: string) => void) | null;
  /** A background one counts among the detached ones from its beginning: its slot there. */
  detachedSlot: number | null;
  subscriber: ActorRef<SubscriberProtocol>;
}

/** Counts tokens with the tokenizer, off the shard; null when that failed or took too long. */
export type CountTokens = (
  accountId: string,
  texts: Record<keyof CountedTokens, string>,
) => Promise<CountedTokens | null>;

/** Whether an answer has the format, off the shard; null when nobody could look in time. */
export type CheckAnswer = (
  accountId: string,
  format: OutputFormat,
  text: string,
) => Promise<boolean | null>;

export interface GenerationDeps extends RequestDeps {
  /** What keys leave before the first word, and what they pay for. */
  giveaways: GiveawayLimiter;
  upstream: UpstreamClient;
  search: WebSearch;
  unread: UnreadParts;
  family(name: string): ProviderFamily;
  countTokens: CountTokens;
  checkAnswer: CheckAnswer;
  /** The generations that run on this node, so that a stop can end them. */
  running: TransientMap<string, ActorRef<GenerationProtocol>>;
}

export type PlannedMember =
  | 'request'
  | 'candidates'
  | 'routing'
  | 'search'
  | 'hosted'
  | 'inputTokensEstimate'
  | 'outputTokensCeiling';

/** What is decided for a generation that is to run. */
export type GenerationPlanned = Pick<GenerationSpec, PlannedMember>;
