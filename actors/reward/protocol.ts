// Every message of rewards on one screen. The actor of a submission lives where its id hashes to,
// on one shard of each process. The row says who of them judges it. The desk is the main thread's.
import type { HeldRow, WorkReply } from '../../runtime/work/turn-desk.ts';

export type RewardProtocol = {
  /** Judges the evidence as it was set aside, or as this actor had it, under this epoch. */
  work: (request: { epoch: number }) => WorkReply;
  /** The work of this actor has ended, however. */
  ended: (nothing: null) => void;
};

export type RewardDeskProtocol = {
  /** Evidence was handed in: into the queue. */
  enqueue: (held: HeldRow) => void;
  /** A shard does not work on this one any more. */
  ended: (request: { id: string }) => void;
};
