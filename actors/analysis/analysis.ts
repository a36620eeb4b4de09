// The actor of an analysis: it starts the work, and says whether it goes on. The work itself is
// beside the mailbox; its row keeps two of them apart.
import { errorFields } from '../../db/driver/sql.ts';
import { takeVideoAnalysis } from '../../db/video-analyses/moves.ts';
import type { ActorContext, ActorKind } from '../../runtime/actor/contract.ts';
import type { TransientSet } from '../../runtime/transient.ts';
import type { AnalysisDeps } from './deps.ts';
import type { VideoAnalysisProtocol } from './protocol.ts';
import { Run } from './run.ts';
import { work } from './work.ts';

export interface VideoAnalysisState {
  readonly deps: VideoAnalysisDeps;
  /** What works on it here; null: nothing. */
  run: Run | null;
}

export interface VideoAnalysisDeps extends AnalysisDeps {
  /** The desk hears of the end of the work here. */
  tellEnded(id: string): void;
  /** What works on this shard. */
  runs: TransientSet<Run>;
}

/** The kind, for one shard; null on the main thread, which only sends to it. */
export function createVideoAnalysisKind(
  deps: VideoAnalysisDeps | null,
): ActorKind<VideoAnalysisProtocol, VideoAnalysisState> {
  return {
    name: 'video-analysis',
    parent: 'analysis',
    placement: 'hashed',
    supervision: { strategy: 'restart', crashesMax: 3, withinMs: 60_000 },
    mailboxLengthMax: 64,
    start() {
      if (deps === null) throw new Error('analyses run on shards');
      return { deps, run: null };
    },
    stopped({ run }) {
      run?.stop();
    },
    behaviour: {
      async work(state, { epoch }, context) {
        if (state.run !== null) return { status: 'working', epoch: state.run.epoch };
        const { deps: given } = state;
        try {
          const { id } = context;
          const row = await takeVideoAnalysis(given.sql, { id, epoch }, given.limits.leaseMs);
          if (row === null) {
            context.stop();
            return { status: 'over' };
          }
          const run = new Run(given, row);
          begin(state, run, context);
          return { status: 'working', epoch: run.epoch };
        } catch (error) {
          given.log.warn(errorFields(error), 'an analysis cannot be taken now');
          return { status: 'unavailable' };
        }
      },

      ended(state, _payload, context) {
        state.run = null;
        state.deps.tellEnded(context.id);
        context.stop();
      },
    },
  };
}

function begin(
  state: VideoAnalysisState,
  run: Run,
  context: ActorContext<VideoAnalysisProtocol>,
): void {
  const { runs, log } = state.deps;
  state.run = run;
  runs.add(run);
  void work(run)
    .catch((error: unknown) => {
      log.error({ err: error, analysis: run.id }, 'the work on an analysis broke');
    })
    .then(() => {
      runs.delete(run);
      context.self.tell('ended', null);
    });
}
