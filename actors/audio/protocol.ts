// Every message of the actor of one speech or transcription: what others send, then what it tells
// itself. It lives on the shard of its client.
import type { UpstreamFailure } from '../../media/model/events.ts';
import type { Answer } from '../../runtime/actor/contract.ts';
import type { HoldReply, ReleaseReply, SettleReply } from '../wallet/protocol.ts';

export type AudioProtocol = {
  /** Before anything was delivered this cancels; afterwards what was bought is paid. */
  clientGone: (payload: null) => void;
  /** One of the two has taken what was written: when both have, the upstream is read on. */
  drained: (by: 'client' | 'disk') => void;
  /** Explicit. */
  cancel: (payload: null) => { status: 'cancelling' | 'ended' };
  /** The process stops. */
  interrupt: (payload: null) => void;
  /** The process waits no longer: the hold is left to reconciliation. */
  giveUp: (payload: null) => void;

  held: (answer: Answer<HoldReply>) => void;
  upstreamBytes: (report: { attempt: number; bytes: Uint8Array }) => void;
  upstreamEnded: (report: { attempt: number; failure: UpstreamFailure | null }) => void;
  /** The audio lies on the disk, this many bytes of it; null: it could not be kept. */
  kept: (bytes: number | null) => void;
  settle: (payload: null) => void;
  settled: (answer: Answer<SettleReply>) => void;
  release: (payload: null) => void;
  released: (answer: Answer<ReleaseReply>) => void;
};
