// The main thread's part in mail, as an actor: shards tell it what is committed, and ask it for the
// mailbox of development mode.
import { strict as assert } from 'node:assert';
import type { ActorKind } from '../../runtime/actor/contract.ts';
import type { MailboxMessage, MailDeskProtocol } from './protocol.ts';

export const mailDeskId = 'mail-desk';

export interface MailDesk {
  send(id: string): void;
  messages(to: string | null): MailboxMessage[];
  clear(): void;
}

export type MailDeskKind = ActorKind<MailDeskProtocol, MailDesk>;

/** Null on shards, which only send to it. */
export function createMailDeskKind(desk: MailDesk | null): MailDeskKind {
  return {
    name: 'mail-desk',
    parent: 'process',
    placement: 'main',
    supervision: { strategy: 'resume', crashesMax: 100, withinMs: 60_000 },
    mailboxLengthMax: 16_384,
    start() {
      assert(desk !== null, 'the desk of mails is on the main thread');
      return desk;
    },
    behaviour: {
      send: (state, { id }) => state.send(id),
      messages: (state, { to }) => state.messages(to),
      clear(state) {
        state.clear();
        return 'cleared';
      },
    },
  };
}
