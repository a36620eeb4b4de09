// Every message of the actor of one query: what others send, then what it tells itself. Its
// wallet's answers are those of every billed request. It lives on the shard of its first client.
import type { Answer } from '../../runtime/actor/contract.ts';
import type { PlainProblem } from '../../runtime/problem.ts';
import type { SettlementProtocol } from '../billed-request/protocol.ts';
import type { Found } from '../search/contract.ts';
import type { LookReply } from '../wallet/protocol.ts';

/** How a query ended, as all who wait for it are told. */
export type QueryEnd =
  /** The body, as it is sent to the client that pays for it. */
  | { kind: 'reply'; text: string }
  | { kind: 'failed'; problem: PlainProblem }
  /** Another query has the idempotency key, or will have: this one was left by its clients. */
  | { kind: 'duplicate' };

export type QueryProtocol = SettlementProtocol & {
  /** The client that began it has left. What nobody waits for is given up, and costs nothing. */
  clientGone: (payload: null) => void;
  /** Another client with the same key waits; the answer comes at the end. */
  attach: (payload: { listener: string }) => QueryEnd;
  /** The client that attached has left. */
  leave: (payload: { listener: string }) => void;
  /** Explicit. */
  cancel: (payload: null) => { status: 'cancelling' | 'ended' };
  /** The process stops. */
  interrupt: (payload: null) => void;
  /** The process waits no longer: the hold is left to reconciliation. */
  giveUp: (payload: null) => void;

  /** What the search came to. */
  found: (found: Found) => void;
  /** What its wallet has while the price is still held. */
  looked: (answer: Answer<LookReply>) => void;
  /** The search should have ended by itself long ago. */
  late: (payload: null) => void;
};
