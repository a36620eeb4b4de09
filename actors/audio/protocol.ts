// Every message of the actor of one speech or transcription: what others send, then what it tells
// itself, its wallet's answers as with a generation. It lives on the shard of its client.
import type { UpstreamFailure } from '../../media/model/events.ts';
import type { SettlementProtocol } from '../billed-request/protocol.ts';

export type AudioProtocol = SettlementProtocol & {
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

  /** Calls the upstream while the hold is under way. */
  callAhead: (payload: null) => void;
  upstreamBytes: (report: { attempt: number; bytes: Uint8Array }) => void;
  upstreamEnded: (report: { attempt: number; failure: UpstreamFailure | null }) => void;
  /** The audio is durable in the blob store, this many bytes of it; null: it could not be kept. */
  kept: (bytes: number | null) => void;
};
