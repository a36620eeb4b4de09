// Who reads the mailbox of development mode: whoever sits at this machine, and nobody's page.
import type { MailboxServices } from '../../../actors/mail/services.ts';
import type { Exchange } from '../../../runtime/http/route.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';
import { isOwnVisitor } from '../own-page.ts';

export const mailboxProblems = ['not_found', 'forbidden'] as const;

/** Called in the first turn of the request, which its headers do not outlive. @throws Problem */
export function requireMailbox(
  exchange: Exchange,
  { config, mail }: Pick<Services, 'config' | 'mail'>,
): MailboxServices {
  if (mail.mailbox === null) throw new Problem('not_found');
  if (!isOwnVisitor(exchange, config.baseUrl)) throw new Problem('forbidden');
  return mail.mailbox;
}
