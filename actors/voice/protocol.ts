// Every message of a voice session's actor on one screen. Frames and upstream events are not among
// them: they go from socket to session and back as function calls, a message each would cost more
// than the relay. What waits for others (money, tools) answers as a message.
import type { Answer as AskAnswer } from '../../runtime/actor/contract.ts';
import type { SearchHit } from '../search/web-search.ts';
import type { ExtendReply, HoldReply, ReleaseReply, SettleReply } from '../wallet/protocol.ts';
import type { EndReason } from './events.ts';

export type VoiceSessionProtocol = {
  /** Ends the session from outside: the process stops, or its shard fails. */
  finish: (reason: EndReason) => void;
  /** Its key or account may no longer be used: nothing more is spent. */
  withdraw: (payload: null) => void;
  /** Nobody waits any longer: the client is told, and what is known is settled. */
  giveUp: (payload: null) => void;
  /** Something threw on the way of a frame or an event: the supervisor ends the session. */
  fault: (error: unknown) => void;

  held: (answer: AskAnswer<HoldReply>) => void;
  extended: (answer: AskAnswer<ExtendReply>) => void;
  /** What the web search of a call found; null: it failed or was too slow. */
  searched: (result: { callId: string; hits: SearchHit[] | null }) => void;
  /** What cannot be due any more goes back while the upstream still owes its last report. */
  reduce: (payload: null) => void;
  settle: (payload: null) => void;
  settled: (answer: AskAnswer<SettleReply>) => void;
  release: (payload: null) => void;
  released: (answer: AskAnswer<ReleaseReply>) => void;
};
