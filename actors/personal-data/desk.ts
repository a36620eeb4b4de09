// The main thread's actor for exports: what shards were asked for goes into the queue.
import { strict as assert } from 'node:assert';
import type { ActorKind } from '../../runtime/actor/contract.ts';
import type { PersonalDataDeskProtocol } from './protocol.ts';

export const personalDataDeskId = 'personal-data-desk';

export interface PersonalDataDesk {
  addExport(left: { id: string; epoch: number }): void;
}

export type PersonalDataDeskKind = ActorKind<PersonalDataDeskProtocol, PersonalDataDesk>;

/** Null on shards, which only send to it. */
export function createPersonalDataDeskKind(desk: PersonalDataDesk | null): PersonalDataDeskKind {
  return {
    name: 'personal-data-desk',
    parent: 'process',
    placement: 'main',
    supervision: { strategy: 'resume', crashesMax: 100, withinMs: 60_000 },
    mailboxLengthMax: 1_024,
    start() {
      assert(desk !== null, 'the desk of personal data is on the main thread');
      return desk;
    },
    behaviour: {
      enqueue: (state, { id }) => state.addExport({ id, epoch: 0 }),
    },
  };
}
