// The messages of every billed request: what its wallet answers, and when it is to be asked.
import type { Answer as AskAnswer } from '../../runtime/actor/contract.ts';
import type { HoldReply, ReleaseReply, SettleReply } from '../wallet/protocol.ts';

/** What its wallet answers, and when it is to be asked: of every request with such a row. */
export type SettlementProtocol = {
  held: (answer: AskAnswer<HoldReply>) => void;
  settle: (payload: null) => void;
  settled: (answer: AskAnswer<SettleReply>) => void;
  release: (payload: null) => void;
  released: (answer: AskAnswer<ReleaseReply>) => void;
};
