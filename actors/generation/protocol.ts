// Every message of a generation actor on one screen: what others send, then what it tells itself.
import type { ModelEvent, UpstreamFailure } from '../../media/model/events.ts';
import type { ActorAddress, Answer as AskAnswer } from '../../runtime/actor/contract.ts';
import type { SettlementProtocol } from '../billed-request/protocol.ts';
import type { SearchHit } from '../search/web-search.ts';
import type { ExtendReply } from '../wallet/protocol.ts';

export type GenerationProtocol = SettlementProtocol & {
  /** Subscribes: what there is so far comes at once as events, the rest as it happens. */
  attach: (request: { subscriber: ActorAddress }) => { status: 'attached' | 'ended' | 'full' };
  /** The subscriber's client is gone. Before the first answer delta the last one cancels. */
  detach: (request: { subscriber: ActorAddress }) => void;
  /** Explicit: the upstream is aborted, what was used is settled. */
  cancel: (payload: null) => { status: 'cancelling' | 'ended' };
  /** The process stops: ends now, with what was used settled. */
  interrupt: (payload: null) => void;
  /** The process waits no longer: clients are told, the hold is left to reconciliation. */
  giveUp: (payload: null) => void;
  /** Whether the generation still knows this subscriber. */
  ping: (request: { subscriber: ActorAddress }) => { status: 'attached' | 'detached' };

  /** Calls the upstream while the hold is under way. */
  callAhead: (payload: null) => void;
  /** What the web search found; null: it failed. */
  searched: (hits: SearchHit[] | null) => void;
  upstreamEvents: (report: { attempt: number; events: ModelEvent[] }) => void;
  upstreamEnded: (report: { attempt: number; failure: UpstreamFailure | null }) => void;
  /** Whether the answer has the format, where that was checked elsewhere; null: nobody looked. */
  checked: (isGood: boolean | null) => void;
  /** Asks for the next slice of the hold, again when the answer was lost. */
  extend: (payload: null) => void;
  extended: (answer: AskAnswer<ExtendReply>) => void;
  /** Tokens counted by the tokenizer, where the provider reported none; null: count failed. */
  counted: (tokens: CountedTokens | null) => void;
};

/** What the tokenizer counted of a generation, in the buckets of its prices. */
export interface CountedTokens {
  input: number;
  /** Without the reasoning, as prices have it. */
  output: number;
  reasoning: number;
}
