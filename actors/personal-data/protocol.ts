// Every message of exports on one screen. The desk is the main thread's.

export type PersonalDataDeskProtocol = {
  /** An export that was asked for: into the queue. */
  enqueue: (request: { id: string }) => void;
};
