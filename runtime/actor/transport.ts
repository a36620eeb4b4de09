// What the actor system asks of the wiring between nodes; `runtime/shard/mesh.ts` is the real one.
import type { AskFailure } from './contract.ts';
import type { PendingAsk, ReplyTo } from './deadline.ts';

/** Takes what other nodes send. */
export interface Inbound {
  /** Delivers to an actor of this node; hashed and main kinds are activated. Null: accepted. */
  receive(
    kind: string,
    id: string,
    message: string,
    payload: unknown,
    replyTo: ReplyTo | null,
  ): AskFailure | null;
}

export interface Transport {
  /** Grows whenever `nodeOf` may answer differently. */
  readonly placementVersion: number;
  /** The live shard that an id of a hashed kind belongs to; null when there is none. */
  nodeOf(id: string): number | null;
  /**
   * Sends one message to an actor of another node. Null when it is on its way; the answer to an
   * ask settles `ask`, also with `unreachable` when the node goes down.
   */
  send(
    node: number,
    kind: string,
    id: string,
    message: string,
    payload: unknown,
    ask: PendingAsk | null,
  ): AskFailure | null;
  /** Hands over who receives; called once, when the node's actor system exists. */
  bind(inbound: Inbound): void;
}
