// One client's view of a generation: holds the headers back until there is something to say, writes
// the stream, and leaves when the client does. It lives beside the socket; the generation need not.
import { emptyAnswer } from '../../media/model/answer.ts';
import type { StreamEncoder } from '../../media/model/dialects/contract.ts';
import type {
  ActorAddress,
  ActorKind,
  ActorRef,
  AskFailure,
  Timer,
} from '../../runtime/actor/contract.ts';
import { plainProblem, toProblem } from '../../runtime/problem.ts';
import type { GenerationProtocol } from '../generation/protocol.ts';
import type { GenerationEnd, SubscriberProtocol } from './protocol.ts';
import { lostEnd, type ReplySink } from './reply-sink.ts';

/** Stays on the shard of the socket, so it may hold functions. */
export interface SubscriberArgs {
  sink: ReplySink;
  holdBackMs: number;
  generationAt(address: ActorAddress): ActorRef<GenerationProtocol>;
}

export interface SubscriberState {
  readonly args: SubscriberArgs;
  ended: boolean;
  generation: ActorRef<GenerationProtocol> | null;
  /** The generation was asked whether it lives, and has not answered yet. */
  probing: boolean;
  /** Runs until the headers leave. */
  holdBack: Timer | null;
}

const probePeriodMs = 5_000;

export const subscriberKind: ActorKind<SubscriberProtocol, SubscriberState, SubscriberArgs> = {
  name: 'subscriber',
  parent: 'generations',
  placement: 'local',
  supervision: { strategy: 'stop', crashesMax: 1, withinMs: 1_000 },
  mailboxLengthMax: 4_096,

  start(context, args) {
    const { sink, holdBackMs } = args;
    const holdBack = sink.encoder === null ? null : context.after(holdBackMs, 'holdBackOver', null);
    return { args, ended: false, generation: null, probing: false, holdBack };
  },

  behaviour: {
    dropped(state, names) {
      state.args.sink.dropped = names;
    },

    events(state, events) {
      const { sink } = state.args;
      if (sink.encoder === null || state.ended) return;
      openStream(state);
      sink.write(sink.encoder.events(events));
    },

    progress(state, progress) {
      const { sink } = state.args;
      if (sink.encoder === null || state.ended) return;
      openStream(state);
      sink.write(sink.encoder.progress(progress));
    },

    accepted(state, _payload, context) {
      const { sink } = state.args;
      if (state.ended || sink.wants !== 'acceptance') return;
      sink.open({ kind: 'accepted' });
      state.ended = true;
      state.generation?.tell('detach', { subscriber: context.address });
      context.stop();
    },

    end(state, end, context) {
      if (state.ended) return;
      endReply(state, end);
      context.stop();
    },

    watch(state, address, context) {
      state.generation = state.args.generationAt(address);
      if (address.node !== context.address.node) context.every(probePeriodMs, 'probe', null);
    },

    probe(state, _payload, context) {
      if (state.generation === null || state.ended || state.probing) return;
      state.probing = true;
      // Not awaited: what the generation says meanwhile comes first, its end above all.
      void state.generation
        .ask('ping', { subscriber: context.address }, probePeriodMs)
        .then((answer) => {
          const attached = answer.ok ? answer.value.status === 'attached' : isSlow(answer.reason);
          context.self.tell('probed', { attached });
        });
    },

    probed(state, { attached }, context) {
      state.probing = false;
      if (attached || state.ended) return;
      endReply(state, lostEnd());
      context.stop();
    },

    holdBackOver(state) {
      if (!state.ended) openStream(state);
    },

    clientGone(state, _payload, context) {
      state.ended = true;
      state.generation?.tell('detach', { subscriber: context.address });
      context.stop();
    },
  },

  stopped(state, reason) {
    if (reason !== 'stopped') endReply(state, lostEnd());
  },
};

/** It has no time for an answer, so it lives. */
function isSlow(reason: AskFailure): boolean {
  return reason === 'timeout' || reason === 'overloaded';
}

function openStream(state: SubscriberState): void {
  if (state.holdBack === null) return;
  state.holdBack.cancel();
  state.holdBack = null;
  state.args.sink.open({ kind: 'stream' });
}

function endReply(state: SubscriberState, end: GenerationEnd): void {
  if (state.ended) return;
  state.ended = true;
  const { sink } = state.args;
  if (sink.opened) {
    if (sink.encoder !== null) sink.finish(endText(sink.encoder, end));
  } else sink.open({ kind: 'end', end });
}

/** The last bytes of a stream for an end: the good end, or the format's error. */
export function endText(encoder: StreamEncoder, end: GenerationEnd): string {
  if (end.status === 'duplicate') {
    return encoder.failure(toProblem(plainProblem('conflict')), null, emptyAnswer(), null);
  }
  if (end.status === 'failed') {
    const { problem, svcUsage, answer, svcRouting } = end;
    return encoder.failure(toProblem(problem), svcUsage, answer, svcRouting);
  }
  // A cancelled or cut answer ends with another reason than its upstream gave, or with the first.
  const { finishReason } = end.answer;
  const cut =
    finishReason === null ? '' : encoder.events([{ type: 'finish', reason: finishReason }]);
  return cut + encoder.finish(end.receipt, end.answer);
}
