// The main thread's part in analyses. Each entry of the queue is a turn, for whichever analysis is
// next: it is set aside, and its actor asked until it is over. So accounts take turns over all
// processes, and a process has as many at once as it takes entries.
import { strict as assert } from 'node:assert';
import type { HeldAnalysis } from '../../db/video-analyses/moves.ts';
import type { ActorKind, ActorRef } from '../../runtime/actor/contract.ts';
import { pause } from '../../runtime/work/pause.ts';
import type { AnalysisLimits } from './limits.ts';
import type { AnalysisDeskProtocol, VideoAnalysisProtocol } from './protocol.ts';

export const analysisDeskId = 'analysis-desk';

export interface AnalysisDesk {
  /** A turn for one that was made or left. */
  add(left: HeldAnalysis): void;
  /** A shard has ended its work on it. */
  ended(id: string): void;
  /** One turn, until its analysis is over; the signal ends the wait, not the work. */
  takeTurn(signal: AbortSignal): Promise<void>;
}

interface DeskOptions {
  /** Puts an entry of this name into the queue, where it is once. */
  addEntry(name: string): void;
  /** Sets aside the one whose turn it is; null: nobody waits. */
  next(): Promise<HeldAnalysis | null>;
  analysis(id: string): ActorRef<VideoAnalysisProtocol>;
  limits: Pick<AnalysisLimits, 'askMs' | 'nextMs'>;
}

/** The desk itself, without its actor. */
export function createAnalysisDesk({
  addEntry,
  next,
  analysis,
  limits,
}: DeskOptions): AnalysisDesk {
  const waiting = new Map<string, AbortController>();
  return {
    // The entry of a process that was killed stays for half a minute: who is left needs another.
    add: ({ id, epoch }) => addEntry(`${id}-${epoch}`),
    ended: (id) => waiting.get(id)?.abort(),
    async takeTurn(signal) {
      const aside = await next();
      if (aside === null) return;
      const { id } = aside;
      let { epoch } = aside;
      while (!signal.aborted) {
        const woken = new AbortController();
        waiting.set(id, woken);
        try {
          const answer = await analysis(id).ask('work', { epoch }, limits.askMs);
          const reply = answer.ok ? answer.value : { status: 'unavailable' as const };
          if (reply.status === 'over') return;
          const isWorking = reply.status === 'working';
          if (isWorking) epoch = reply.epoch;
          const waitMs = isWorking ? limits.askMs : limits.nextMs;
          await pause(waitMs, AbortSignal.any([signal, woken.signal]));
        } finally {
          waiting.delete(id);
        }
      }
      throw new Error('the process stops: another goes on');
    },
  };
}

export type AnalysisDeskKind = ActorKind<AnalysisDeskProtocol, AnalysisDesk>;

/** Null on shards, which only send to it. */
export function createAnalysisDeskKind(desk: AnalysisDesk | null): AnalysisDeskKind {
  return {
    name: 'analysis-desk',
    parent: 'process',
    placement: 'main',
    supervision: { strategy: 'resume', crashesMax: 100, withinMs: 60_000 },
    mailboxLengthMax: 4_096,
    start() {
      assert(desk !== null, 'the desk of analyses is on the main thread');
      return desk;
    },
    behaviour: {
      enqueue: (state, { id }) => state.add({ id, epoch: 0 }),
      ended: (state, { id }) => state.ended(id),
    },
  };
}
