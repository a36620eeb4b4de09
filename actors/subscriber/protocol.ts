// What a generation tells each of its subscribers. A subscriber lives beside its client's socket,
// so these messages may cross threads; everything in them is plain data.
import type { Answer } from '../../media/model/answer.ts';
import type { Receipt, SvcRouting, SvcUsage } from '../../media/model/dialects/contract.ts';
import type { ModelEvent, Progress } from '../../media/model/events.ts';
import type { ActorAddress } from '../../runtime/actor/contract.ts';
import type { PlainProblem } from '../../runtime/problem.ts';

/** How a generation ended, for whoever listens. */
export type GenerationEnd =
  /** The whole answer; `cancelled` and `incomplete` end in the format's incomplete form. */
  | { status: 'completed' | 'incomplete' | 'cancelled'; answer: Answer; receipt: Receipt }
  /** `answer` and `svcUsage` are what had been delivered and charged before it failed. */
  | {
      status: 'failed';
      problem: PlainProblem;
      answer: Answer;
      svcUsage: SvcUsage | null;
      /** Managed routes only, once a model was chosen. */
      svcRouting: SvcRouting | null;
    }
  /** The idempotency key belongs to another generation: attach there. */
  | { status: 'duplicate' };

export type SubscriberProtocol = {
  /** Members of the request that the provider is not told; the last word before events counts. */
  dropped: (names: readonly string[]) => void;
  events: (events: readonly ModelEvent[]) => void;
  progress: (progress: Progress) => void;
  /** A background generation has its hold: it runs to its end whoever listens. */
  accepted: (payload: null) => void;
  end: (end: GenerationEnd) => void;
  /** Names the generation; one on another node is asked now and then whether it still lives. */
  watch: (generation: ActorAddress) => void;
  /** Timer: the headers have been held back long enough. */
  holdBackOver: (payload: null) => void;
  /** Timer: asks the generation of another node. */
  probe: (payload: null) => void;
  /** What that came to. */
  probed: (outcome: { attached: boolean }) => void;
  /** The client went away, or its stream was dropped as too slow. */
  clientGone: (payload: null) => void;
};
