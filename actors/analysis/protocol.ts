// Every message of analyses on one screen. The actor of an analysis lives where its id hashes to,
// on one shard of each process. The row says who of them works on it. The desk is the main
// thread's.
import type { WorkReply } from '../../runtime/work/turn-desk.ts';

export type VideoAnalysisProtocol = {
  /** Works on the analysis as it was set aside, or as this actor had it, under this epoch. */
  work: (request: { epoch: number }) => WorkReply;
  /** The work of this actor has ended, however. */
  ended: (nothing: null) => void;
};

export type AnalysisDeskProtocol = {
  /** One that was made: into the queue. */
  enqueue: (request: { id: string }) => void;
  /** A shard does not work on this one any more. */
  ended: (request: { id: string }) => void;
};
