// A search as everybody here asks for one: queries, generations and voice. It goes through what is
// kept and what is under way, then from target to target. Money is the caller's.
import type { GroundedAnswer } from '../../media/model/grounding/contract.ts';
import type { SearchAsk, SearchItem } from '../../media/search/contract.ts';
import type { ModelRules } from '../catalog/ruled/rules.ts';
import type { CatalogSurface } from '../catalog/surface.ts';

/** A cited answer is wanted beside the items; the house pays for its generation. */
export interface AnswerOrder {
  /** The public alias. */
  model: string;
  /** What the caller's organization forbids; null: nothing. */
  rules: ModelRules | null;
}

/** Plain data: it may be sent to the shard that has the key. */
export interface SearchOrder {
  /** The caller's catalog has it so: its targets are those that the caller's rules leave. */
  surface: CatalogSurface;
  ask: SearchAsk;
  /** The account that the cache belongs to. */
  accountId: string;
  /** The oldest kept answer that is taken; 0: none, and nothing under way is shared. */
  maxAgeSeconds: number;
  answer: AnswerOrder | null;
  /** Where the breakers of all targets are open, one is asked all the same. */
  isLastResort?: true;
  /** Whoever asks may never pay: to those who may not either it is told, and to no query. */
  isPaidLater?: true;
}

export type EngineState = 'found' | 'empty' | 'partial' | 'failed' | 'busy' | 'skipped';

/** One attempt, as clients see it: `r1`, `r2` in the order in which targets are tried. */
export interface EngineTry {
  name: string;
  state: EngineState;
  ms: number;
}

export interface SearchResult {
  /** `found` and `partial` have items; `empty` and `failed` have none. */
  state: 'found' | 'partial' | 'empty' | 'failed';
  items: SearchItem[];
  related: string[];
  /** JSON of an object, at most 512 KiB. */
  dataJson: string;
  isTruncated: boolean;
  /** Names of parameters that the answering family did not take. */
  ignored: string[];
  engines: EngineTry[];
  /** Left out: none was wanted. Null: it was not to be had, and only the search is paid. */
  answer?: GroundedAnswer | null;
  /** Where it was answered; null: nowhere. */
  routeId: string | null;
  costMicros: bigint;
  isSimulated: boolean;
  /** Why nothing came: of all targets together. */
  failure: {
    kind: 'refused' | 'busy' | 'timeout' | 'failed' | 'no_route' | 'aborted';
    retryAfterMs: number | null;
  } | null;
  /** A provider was asked, whatever came of it. */
  isAsked: boolean;
  madeAtMs: number;
}

export interface Found {
  result: SearchResult;
  /** A hit: nobody was asked for this caller. */
  cache: { hit: boolean; ageSeconds: number };
}

export interface SearchDesk {
  /**
   * What is kept, or comes of an equal search that is under way for the account; null: it has to be
   * asked for. It costs nothing and asks nobody.
   */
  look(order: SearchOrder, signal: AbortSignal): Promise<Found | null>;
  /** Kept, shared or asked for. Never rejects. */
  find(order: SearchOrder, signal: AbortSignal): Promise<Found>;
}
