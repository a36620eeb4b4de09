// The mailbox of development mode: what would have been sent, in the memory of the main thread.
import type { MailboxMessage } from './protocol.ts';

export interface Mailbox {
  put(message: MailboxMessage): void;
  /** Newest first. */
  list(to: string | null): MailboxMessage[];
  clear(): void;
}

export function createMailbox(lengthMax: number): Mailbox {
  let messages: MailboxMessage[] = [];
  return {
    put(message) {
      messages = [message, ...messages.filter(({ id }) => id !== message.id)].slice(0, lengthMax);
    },
    list: (to) => (to === null ? messages : messages.filter((message) => message.to === to)),
    clear() {
      messages = [];
    },
  };
}
