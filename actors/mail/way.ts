// How mail leaves, as the configuration says: by a server, into the mailbox of development mode, or
// not at all. And whom it is from.
import { isIP } from 'node:net';
import type { Config } from '../../runtime/config.ts';

export type MailWay = 'smtp' | 'mailbox' | 'none';

export function mailWayOf({ smtpUrl, mode }: Pick<Config, 'smtpUrl' | 'mode'>): MailWay {
  if (smtpUrl !== null) return 'smtp';
  return mode === 'dev' ? 'mailbox' : 'none';
}

export interface Sender {
  name: string;
  address: string;
}

/** Unless it is set, the sender is the host of the pages. */
export function senderOf({ mailFrom, webUrl }: Pick<Config, 'mailFrom' | 'webUrl'>): Sender {
  if (mailFrom !== null) return mailFrom;
  const { hostname } = new URL(webUrl);
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return { name: 'tollgate', address: `no-reply@${isAddress ? 'localhost' : hostname}` };
}
