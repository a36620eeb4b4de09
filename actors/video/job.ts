// The actor of a job: it starts the work, and lets others end it meanwhile. The work itself goes on
// beside the mailbox; its row keeps two of them apart.
import type { NewAuditEvent } from '../../db/audit-events.ts';
import { errorFields } from '../../db/driver/sql.ts';
import type { VideoJobStatus } from '../../db/video-jobs/rows.ts';
import { findVideoJob } from '../../db/video-jobs.ts';
import type { ActorContext, ActorKind } from '../../runtime/actor/contract.ts';
import { newAuditId } from '../../runtime/ids.ts';
import type { TransientSet } from '../../runtime/transient.ts';
import { release } from './closing.ts';
import type { VideoDeps } from './deps.ts';
import type { EndReply, VideoJobProtocol } from './protocol.ts';
import { type Run, startRun } from './run.ts';
import { isFinal } from './stage.ts';
import { work } from './work.ts';

export interface VideoJobState {
  readonly deps: VideoJobDeps;
  /** What works on it here; null: nothing. */
  run: Run | null;
}

type Context = ActorContext<VideoJobProtocol>;

export interface VideoJobDeps extends VideoDeps {
  /** The queue hears of the end of a job's work here. */
  tellEnded(id: string): void;
  /** What works on this shard. */
  runs: TransientSet<Run>;
}

/** The kind, for one shard; null on the main thread, which only sends to it. */
export function createVideoJobKind(
  deps: VideoJobDeps | null,
): ActorKind<VideoJobProtocol, VideoJobState> {
  return {
    name: 'video-job',
    parent: 'video',
    placement: 'hashed',
    supervision: { strategy: 'restart', crashesMax: 3, withinMs: 60_000 },
    mailboxLengthMax: 64,
    start() {
      if (deps === null) throw new Error('video jobs run on shards');
      return { deps, run: null };
    },
    stopped({ run }) {
      run?.stop();
    },
    behaviour: {
      async work(state, _payload, context) {
        if (state.run !== null) return 'working';
        try {
          const run = await startRun(state.deps, context.id, { fromOthers: false });
          if (run === null) return await lookedAt(state, context);
          begin(state, run, context);
        } catch (error) {
          state.deps.log.warn(errorFields(error), 'a video job cannot be taken now');
        }
        return 'working';
      },

      cancel: (state, _payload, context) =>
        end(state, context, ['queued'], (run) => release(run, 'cancelled')),

      fail(state, { reason, accountId }, context) {
        const open: VideoJobStatus[] = ['queued', 'submitting', 'running'];
        return end(state, context, open, (run) => {
          const event: NewAuditEvent = {
            id: newAuditId(context.address.node),
            accountId: run.job.accountId,
            actor: accountId,
            action: 'video_job.fail',
            subject: `video_job:${run.id}`,
            details: { reason },
          };
          return release(run, { code: 'operator_failed', note: reason, event });
        });
      },

      ended(state, _payload, context) {
        state.run = null;
        state.deps.tellEnded(context.id);
        context.stop();
      },
    },
  };
}

/** Nobody could take it: it is over, or another process works on it. */
async function lookedAt(state: VideoJobState, context: Context): Promise<'over' | 'working'> {
  const job = await findVideoJob(state.deps.sql, null, context.id);
  if (job !== null && !isFinal(job.status)) return 'working';
  context.stop();
  return 'over';
}

function begin(state: VideoJobState, run: Run, context: Context): void {
  const { runs, log, limits } = state.deps;
  state.run = run;
  runs.add(run);
  void work(run)
    .catch(async (error: unknown) => {
      log.error({ err: error, job: run.id }, 'the work on a video job broke');
      // What broke for good would break again at once.
      await run.pauseFor(limits.refusedMs);
    })
    .then(() => {
      runs.delete(run);
      context.self.tell('ended', null);
    });
}

type Close = (run: Run) => ReturnType<typeof release>;

/** A database that is away is no fault of the actor, whose work would be cut off by a crash. */
async function end(
  state: VideoJobState,
  context: Context,
  statuses: readonly VideoJobStatus[],
  close: Close,
): Promise<EndReply> {
  try {
    return await takeAndEnd(state, context, statuses, close);
  } catch (error) {
    state.deps.log.warn(errorFields(error), 'a video job cannot be ended now');
    return 'unavailable';
  }
}

/** Takes the job from whoever works on it and ends it. */
async function takeAndEnd(
  state: VideoJobState,
  context: Context,
  statuses: readonly VideoJobStatus[],
  close: Close,
): Promise<EndReply> {
  const { deps } = state;
  const run = await startRun(deps, context.id, { fromOthers: true, statuses });
  if (run === null) {
    const job = await findVideoJob(deps.sql, null, context.id);
    return job?.status === 'cancelled' ? 'already' : 'invalid_state';
  }
  state.run?.lost();
  const closed = await close(run);
  if (closed === 'ended') return 'ended';
  return closed === 'gone' ? 'invalid_state' : 'unavailable';
}
