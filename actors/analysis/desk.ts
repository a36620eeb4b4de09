// The main thread's part in analyses: turns for them, so that accounts take theirs over all
// processes.
import { strict as assert } from 'node:assert';
import type { HeldAnalysis } from '../../db/video-analyses/moves.ts';
import type { ActorKind, ActorRef } from '../../runtime/actor/contract.ts';
import { createTurnDesk, type TurnDesk } from '../../runtime/work/turn-desk.ts';
import type { AnalysisLimits } from './limits.ts';
import type { AnalysisDeskProtocol, VideoAnalysisProtocol } from './protocol.ts';

export const analysisDeskId = 'analysis-desk';

export type AnalysisDesk = TurnDesk;

interface DeskOptions {
  addEntry(name: string): void;
  next(): Promise<HeldAnalysis | null>;
  analysis(id: string): ActorRef<VideoAnalysisProtocol>;
  limits: Pick<AnalysisLimits, 'askMs' | 'nextMs'>;
}

/** The desk itself, without its actor. */
export function createAnalysisDesk({ analysis, ...options }: DeskOptions): AnalysisDesk {
  const { askMs } = options.limits;
  return createTurnDesk({
    ...options,
    async work({ id, epoch }) {
      const answer = await analysis(id).ask('work', { epoch }, askMs);
      return answer.ok ? answer.value : { status: 'unavailable' };
    },
  });
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
