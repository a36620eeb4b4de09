// Every message of video jobs on one screen. A job's actor lives where its id hashes to, on one
// shard of each process; the row says who of them works on it. The desk is the main thread's.

/** `over`: there is nothing to be done any more. `working`: somebody does. */
export type WorkReply = 'over' | 'working';

/** `unavailable`: nothing is known to have happened. */
export type EndReply = 'ended' | 'already' | 'invalid_state' | 'unavailable';

export type VideoJobProtocol = {
  /** Works on the job until it is over. Told again and again by the queue: the first counts. */
  work: (nothing: null) => WorkReply;
  /** `already`: it was cancelled before. */
  cancel: (nothing: null) => EndReply;
  /** An administrator ends it. */
  fail: (request: { reason: string; accountId: string }) => EndReply;
  /** The work of this actor has ended, however. */
  ended: (nothing: null) => void;
};

export type VideoDeskProtocol = {
  /** Jobs that were made: into the queue. */
  enqueue: (request: { id: string }) => void;
  /** A shard does not work on this job any more: it is over, or somebody has to go on. */
  ended: (request: { id: string }) => void;
};
