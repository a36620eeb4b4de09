// Mail as others use it: what may be written to a person, and how it leaves.
import type { Queryable } from '../../db/driver/sql.ts';
import type { MailboxMessage } from './protocol.ts';

/** What is written. Plain data: it is sealed as it is. */
export type Mail =
  | {
      template: 'code';
      purpose: 'sign_in' | 'sign_up' | 'verify' | 'reset' | 'new_address';
      code: string;
      minutes: number;
    }
  /** Somebody asked to sign in with an address that has no account. */
  | { template: 'no_account' }
  /** The notice to the former address. */
  | { template: 'address_changed'; newAddress: string }
  | { template: 'password_changed' }
  /** A refresh token was used twice: the authorization was revoked. */
  | { template: 'app_cut_off'; client: string }
  | { template: 'account_deleting'; untilText: string }
  | { template: 'export_ready'; untilText: string }
  /** Credits were bought; `byItself`: without the person, as it decided before. */
  | { template: 'purchase'; name: string; priceText: string; id: string; byItself: boolean }
  | { template: 'refund'; amountText: string; id: string }
  /** Credits are not bought without the person any more. */
  | { template: 'top_up_paused'; why: 'needs_person' | 'declined' | 'unsellable' }
  /** Servers answer without the record that proves a domain. */
  | { template: 'domain_failing'; domain: string; organization: string; untilText: string }
  /** They did for so long that it counts as proved no more. */
  | { template: 'domain_lapsed'; domain: string; organization: string }
  /** `link`: the page of the gateway where the person answers. It carries no secret. */
  | { template: 'invitation'; name: string; inviter: string; untilText: string; link: string }
  /** An operator appointed another canonical owner. */
  | { template: 'organization_owner'; name: string; newOwner: string }
  | { template: 'test' };

export interface MailToWrite {
  to: string;
  accountId: string | null;
  /** It is not sent any more after this: its code is worth nothing. */
  expiresAt: Date | null;
  mail: Mail;
}

export interface MailServices {
  /** Whether mail leaves: SMTP is configured, or development mode has its mailbox. */
  readonly isAvailable: boolean;
  /** Writes the row of a mail in the transaction that needs it; returns its id. */
  write(transaction: Queryable, mail: MailToWrite): Promise<string>;
  /** After the commit: has it sent now. The sweep makes up for lost calls within 30 s. */
  send(id: string): void;
}

/** The mailbox of development mode, which is the main thread's. */
export interface MailboxServices {
  /** Newest first; null: the main thread does not answer. */
  list(to: string | null): Promise<MailboxMessage[] | null>;
  /** False: the main thread does not answer. */
  clear(): Promise<boolean>;
}

/** Mail as routes have it. */
export interface ThreadMail extends MailServices {
  /** Null outside of development mode, and with a server. */
  readonly mailbox: MailboxServices | null;
}
