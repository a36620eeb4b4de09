// The actor of a submission: it starts the work, and says whether it goes on. The work itself is
// beside the mailbox; its row keeps two of them apart.
import { errorFields } from '../../db/driver/sql.ts';
import { takeReward } from '../../db/rewards/moves.ts';
import type { ActorKind } from '../../runtime/actor/contract.ts';
import type { TransientSet } from '../../runtime/transient.ts';
import type { RewardProtocol } from './protocol.ts';
import { type RewardDeps, Run } from './run.ts';
import { work } from './work.ts';

export interface RewardActorDeps extends RewardDeps {
  /** The desk hears of the end of the work here. */
  tellEnded(id: string): void;
  /** What works on this shard. */
  runs: TransientSet<Run>;
}

interface RewardState {
  readonly deps: RewardActorDeps;
  /** What works on it here; null: nothing. */
  run: Run | null;
}

/** The kind, for one shard; null on the main thread, which only sends to it. */
export function createRewardKind(
  deps: RewardActorDeps | null,
): ActorKind<RewardProtocol, RewardState> {
  return {
    name: 'reward',
    parent: 'reward',
    placement: 'hashed',
    supervision: { strategy: 'restart', crashesMax: 3, withinMs: 60_000 },
    mailboxLengthMax: 64,
    start() {
      if (deps === null) throw new Error('evidence is judged on shards');
      return { deps, run: null };
    },
    stopped({ run }) {
      run?.stop();
    },
    behaviour: {
      async work(state, { epoch }, context) {
        if (state.run !== null) return { status: 'working', epoch: state.run.epoch };
        const { sql, limits, runs, log } = state.deps;
        try {
          const row = await takeReward(sql, { id: context.id, epoch }, limits.leaseMs);
          if (row === null) {
            context.stop();
            return { status: 'over' };
          }
          const run = new Run(state.deps, row);
          state.run = run;
          runs.add(run);
          void work(run).finally(() => {
            runs.delete(run);
            context.self.tell('ended', null);
          });
          return { status: 'working', epoch: run.epoch };
        } catch (error) {
          log.warn(errorFields(error), 'a submission cannot be taken now');
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
