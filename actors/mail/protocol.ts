// Every message of mail on one screen. The desk is the main thread's: mails leave from there.

/** A mail in the mailbox of development mode. */
export interface MailboxMessage {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** When it was sent, as ISO 8601. */
  at: string;
}

export type MailDeskProtocol = {
  /** Its row is committed: it may leave. */
  send: (request: { id: string }) => void;
  /** What the mailbox has, newest first. `to`: for this address alone. */
  messages: (request: { to: string | null }) => MailboxMessage[];
  /** Empties the mailbox. */
  clear: (nothing: null) => 'cleared';
};
