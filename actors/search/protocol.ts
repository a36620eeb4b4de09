// Messages of a place: it has what is kept and what is under way for its share of the keys. Who
// asks there waits for as long as the search lasts: replies are given when it has ended.
import type { Found, SearchOrder, SearchResult } from './contract.ts';

/** `none`: nothing is kept nor under way. `gone`: the place has lost what was under way. */
export type PlaceReply =
  | { status: 'found'; found: Found }
  | { status: 'none' }
  | { status: 'gone' };

export interface LookRequest {
  key: string;
  /** Names who waits: no two are equal within the process. */
  ticket: string;
  /** For what is counted. */
  surface: string;
  maxAgeSeconds: number;
}

export interface FindRequest extends LookRequest {
  order: SearchOrder;
}

export type PlaceProtocol = {
  /** Waits for an equal search that is under way, and begins none. */
  look: (request: LookRequest) => PlaceReply;
  find: (request: FindRequest) => PlaceReply;
  /** Who has this ticket waits no more. The last one to leave ends the search. */
  leave: (left: { key: string; ticket: string }) => void;
  /** What was found elsewhere for a key of this place. */
  keep: (made: { key: string; result: SearchResult }) => void;
  /** A search of this place has ended. */
  done: (ended: { key: string; number: number; result: SearchResult }) => void;
  /** Nobody who pays waits for it: it ends unless somebody has come meanwhile. */
  orphaned: (left: { key: string; number: number }) => void;
  /** Drops what nobody may be told any more. */
  sweep: (payload: null) => void;
};
