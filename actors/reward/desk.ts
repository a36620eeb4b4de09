// The main thread's part in rewards: turns for evidence.
import { strict as assert } from 'node:assert';
import type { ActorKind } from '../../runtime/actor/contract.ts';
import type { TurnDesk } from '../../runtime/work/turn-desk.ts';
import type { RewardDeskProtocol } from './protocol.ts';

export const rewardDeskId = 'reward-desk';

export type RewardDeskKind = ActorKind<RewardDeskProtocol, TurnDesk>;

/** Null on shards, which only send to it. */
export function createRewardDeskKind(desk: TurnDesk | null): RewardDeskKind {
  return {
    name: 'reward-desk',
    parent: 'process',
    placement: 'main',
    supervision: { strategy: 'resume', crashesMax: 100, withinMs: 60_000 },
    mailboxLengthMax: 4_096,
    start() {
      assert(desk !== null, 'the desk of rewards is on the main thread');
      return desk;
    },
    behaviour: {
      enqueue: (state, held) => state.add(held),
      ended: (state, { id }) => state.ended(id),
    },
  };
}
