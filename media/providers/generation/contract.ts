// What an upstream family is: how a neutral request becomes a call, and how its bytes become
// neutral events. Families know wire formats; they know no wallet, no route and no client.
import type { ModelEvent, UpstreamFailure } from '../../model/events.ts';
import type {
  GenerationRequest,
  OutputFormat,
  RequestSource,
  WireFormat,
} from '../../model/request.ts';
import type { NameMap } from './fitting/names.ts';

export type ClientFormat = RequestSource['format'];

/** How a server differs from the rest of its family; what is left out follows its address. */
export interface UpstreamQuirks {
  /** Knows `stream_options.include_obfuscation`; many compatible servers refuse the member. */
  obfuscationSwitch: boolean;
  /** The member for the output ceiling, whatever the client calls it. */
  outputCeiling: 'max_tokens' | 'max_completion_tokens';
  /**
   * Where instructions may stand. `in_place`: anywhere. `first`: in one message in front of all.
   * `as_user`: behind the first turn they become words of the user.
   */
  systemMessages: 'in_place' | 'first' | 'as_user';
  /** Knows tools that take free text (`custom`), as servers of the Chat format may. */
  customTools: boolean;
  /** Refuses every member that it does not know, in the body and in messages. */
  strictMembers: boolean;
}

/** One way to run a model: a configured provider and the name that it has there. */
export interface UpstreamTarget {
  /** Opaque id of the provider route, for health and metrics. */
  routeId: string;
  /** What policies call its provider; left out: it is on no list of theirs. */
  publicName?: string;
  /** Where the provider works; left out: nobody says. */
  region?: string;
  family: string;
  /** With the version prefix: `https://api.example.com/v1`. */
  baseUrl: string;
  apiKey: string | null;
  upstreamModel: string;
  quirks?: Partial<UpstreamQuirks>;
  /** Members of requests that the administrator lets pass to it beside those that are listed. */
  forwardMembers?: readonly string[];
}

export interface UpstreamCall {
  method: 'POST';
  /** Absolute. */
  url: string;
  headers: Record<string, string>;
  /** Written as JSON when it is sent, a long one in pieces. */
  body: Record<string, unknown>;
}

/** Reads one response body. Never throws: nonsense is a `failure` event of kind `garbage`. */
export interface StreamReader {
  /** Bytes may be cut anywhere, also inside a character. */
  push(bytes: Uint8Array): ModelEvent[];
  /** The connection ended; a stream without its terminator gives a `failure` of kind `cut`. */
  end(): ModelEvent[];
  /** The format's terminator was seen: whatever the socket does now, the answer is whole. */
  readonly finished: boolean;
}

export interface CallOptions {
  /** The ceiling after policy. */
  outputTokensMax: number;
  /** The provider's own web search is to be offered to the model. */
  nativeSearch: boolean;
  /** The model is known to reason: others refuse to be told how much. */
  reasons?: boolean;
}

/** The family's own endpoint that counts the input tokens of a request, for free. */
export interface TokenCounting {
  encode(request: GenerationRequest, target: UpstreamTarget): UpstreamCall;
  /** Tokens from a 2xx body; null: not what was expected. */
  read(body: string): number | null;
}

/** A request in the form that one provider takes. */
export interface Fitted {
  request: GenerationRequest;
  /** Null: every tool is told by its own name. */
  names: NameMap | null;
  /** Members of the request that are left out, by the client's names. */
  dropped: readonly string[];
}

export interface ProviderFamily {
  readonly name: string;
  /** The public format that this family's wire format is; null: none. */
  readonly format: WireFormat | null;
  /** Has a web search of its own that `nativeSearch` switches on, also beside what else is in the
   * request. */
  searches(request: GenerationRequest): boolean;
  readonly counting: TokenCounting | null;
  /** The smallest ceiling that the format takes. A smaller one is kept here: see `CeilingCut`. */
  readonly outputTokensMin: number;
  /** Stop sequences of the request that the provider cannot be told: see `StopCut`. */
  unwatched(request: GenerationRequest): readonly string[];
  /** Whether the provider itself keeps the answer to the format; else we check and repair.
   * `nativeSearch`: while its own search is on. */
  constrains(
    format: OutputFormat,
    request: GenerationRequest,
    target: UpstreamTarget,
    nativeSearch?: boolean,
  ): boolean;
  /**
   * Puts a request into a form that the provider is not known to refuse, before it is encoded.
   * `refused`: the path of what the family has no form for. Pure; cheap where nothing is to fit.
   */
  fit(
    request: GenerationRequest,
    target: UpstreamTarget,
    options: Partial<Pick<CallOptions, 'outputTokensMax' | 'reasons'>>,
  ): Fitted | { refused: string };
  /**
   * Always a streamed call of a fitted request. Parts, tools and settings that the family has no
   * form for are left out; what it must refuse is found before (`fit`).
   */
  encodeRequest(
    request: GenerationRequest,
    target: UpstreamTarget,
    options: CallOptions,
  ): UpstreamCall;
  /** The half of `fit` that refuses, for planning: what the family cannot express and may not drop,
   * the field's path or null. `reasons`: the model is known to reason. `target`: where it runs,
   * as some models take more than others. */
  lacks(
    request: GenerationRequest,
    reasons?: boolean,
    target?: Pick<UpstreamTarget, 'baseUrl' | 'upstreamModel'>,
  ): string | null;
  /** Settings of clients of other formats that this family has nothing like, by the members that
   * ask for them there. They are left out, and the client is told so. */
  leavesOut(
    request: GenerationRequest,
    target: Pick<UpstreamTarget, 'baseUrl' | 'upstreamModel' | 'quirks'>,
  ): ReadonlySet<string>;
  /** `clientFormat`: whose answer it is. Of its own format a reader keeps all that it can show.
   * `server`: what a server wants back is kept, and marked with this name. */
  createReader(clientFormat?: ClientFormat, server?: string): StreamReader;
  /** Classifies a non-2xx reply. `body` is at most 64 KiB of it. */
  readFailure(status: number, headers: Record<string, string>, body: string): UpstreamFailure;
}

/** Deadlines of one upstream call, in milliseconds. All but the first count from its sending. */
export interface UpstreamDeadlines {
  /** Until a call that is long to encode is sent: its turn is ours to give. */
  queueMs: number;
  connectMs: number;
  firstEventMs: number;
  idleMs: number;
  totalMs: number;
}

/** What a call reports, in order: events any number of times, then `ended` exactly once. */
export interface UpstreamListener {
  /** The format of the client that is answered. */
  readonly clientFormat?: ClientFormat;
  /** The name of the server, for a client that carries what it wants back: see `serverName`. */
  readonly server?: string | undefined;
  events(events: ModelEvent[]): void;
  /** `failure` null: the terminator was read. */
  ended(failure: UpstreamFailure | null): void;
}

/** A running call. After `abort` nothing more is reported. */
export interface UpstreamHandle {
  abort(): void;
  pause(): void;
  resume(): void;
}

/** What of a call's time was ours: the wait for its encoding, and standstills of the thread. */
export interface TimedHandle extends UpstreamHandle {
  readonly ownMs: number;
}
