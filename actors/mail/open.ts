// Mail as a thread offers it. It needs the database and the key alone, so that commands can write
// mails as well: whichever process runs sends them.
import type { Queryable } from '../../db/driver/sql.ts';
import { insertMail } from '../../db/mails.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { Config } from '../../runtime/config.ts';
import { newId } from '../../runtime/ids.ts';
import type { Sealer } from '../../runtime/seal.ts';
import { parseAddress } from '../identity/address.ts';
import { sealMail } from './content.ts';
import { mailLimits } from './limits.ts';
import type { MailDeskProtocol } from './protocol.ts';
import type { MailboxServices, MailServices, MailToWrite, ThreadMail } from './services.ts';
import { cleanMail } from './templates.ts';
import { mailWayOf } from './way.ts';

interface MailGiven {
  config: Pick<Config, 'smtpUrl' | 'mode'>;
  sealer: Sealer;
  node: number;
  /** To the main thread; a command leaves it to the sweep. */
  send(id: string): void;
}

/** @throws Error when the address is none: its callers have read it. */
async function writeMail(
  transaction: Queryable,
  { sealer, node }: Pick<MailGiven, 'sealer' | 'node'>,
  { to, accountId, expiresAt, mail }: MailToWrite,
): Promise<string> {
  const address = parseAddress(to);
  if (address === null) throw new Error('a mail is written to what is no address');
  const id = newId('mail', node);
  const content = { to: address, mail: cleanMail(mail, mailLimits.variableCharactersMax) };
  const { template } = mail;
  await insertMail(transaction, {
    id,
    accountId,
    template,
    expiresAt,
    ...sealMail(sealer, id, content),
  });
  return id;
}

export function createMailServices(given: MailGiven): MailServices {
  const isAvailable = mailWayOf(given.config) !== 'none';
  return {
    isAvailable,
    async write(transaction, mail) {
      // A notice that nothing can send is not kept: it would only count as failed.
      if (!isAvailable) return newId('mail', given.node);
      return await writeMail(transaction, given, mail);
    },
    send(id) {
      if (isAvailable) given.send(id);
    },
  };
}

/** The same on a shard, with the mailbox of development mode. */
export function createThreadMail(
  given: Omit<MailGiven, 'send'>,
  desk: () => ActorRef<MailDeskProtocol>,
): ThreadMail {
  const services = createMailServices({ ...given, send: (id) => desk().tell('send', { id }) });
  const hasMailbox = mailWayOf(given.config) === 'mailbox';
  return { ...services, mailbox: hasMailbox ? mailboxAt(desk) : null };
}

function mailboxAt(desk: () => ActorRef<MailDeskProtocol>): MailboxServices {
  return {
    async list(to) {
      const answer = await desk().ask('messages', { to }, mailLimits.askMs);
      return answer.ok ? answer.value : null;
    },
    async clear() {
      const answer = await desk().ask('clear', null, mailLimits.askMs);
      return answer.ok;
    },
  };
}
