// Ends what an app may do, because it or somebody else showed what was used before, or because it
// asks for that itself. No shard takes its tokens any more when this resolves.
import { findPerson } from '../../db/accounts/person.ts';
import { insertAuditEvent } from '../../db/audit-events.ts';
import { endAuthorizations, type RevocationReason } from '../../db/authorizations.ts';
import { type Queryable, withDeadline } from '../../db/driver/sql.ts';
import { newAuditId } from '../../runtime/ids.ts';
import { tellChange } from '../credentials.ts';
import type { Services } from '../services.ts';

export interface Ended {
  authorizationId: string;
  accountId: string;
  /** The client id. */
  client: string;
}

type Reason = Extract<RevocationReason, 'client' | 'reuse' | 'code_replay'>;

export type CutOffServices = Pick<Services, 'sql' | 'system' | 'bus' | 'mail'>;

/** `toldName`: how the person is told of the app in a mail; null: it is not told. */
export async function cutOff(
  services: CutOffServices,
  ended: Ended,
  reason: Reason,
  toldName: string | null = null,
): Promise<void> {
  const { sql, bus, mail } = services;
  const ending = sql.begin(async (transaction) => {
    const id = ended.authorizationId;
    const ids = await endAuthorizations(transaction, { id }, reason);
    // Somebody was quicker: it is told of once.
    if (ids.length === 0) return { ids, mailId: null };
    await insertAuditEvent(transaction, eventOf(ended, reason, newAuditId(services.system.node)));
    const mailId =
      toldName === null ? null : await writeMail(services, transaction, ended, toldName);
    return { ids, mailId };
  });
  const { ids, mailId } = await withDeadline(ending);
  if (mailId !== null) mail.send(mailId);
  // Whoever was quicker may not have told it yet.
  await tellChange(bus, [ended.authorizationId, ...ids], { isWithdrawn: true });
}

function eventOf({ authorizationId, accountId, client }: Ended, reason: Reason, id: string) {
  return {
    id,
    accountId,
    actor: `client:${client}`,
    action: 'authorization.revoke',
    subject: `authorization:${authorizationId}`,
    details: { client, reason },
  };
}

/** Null: mail does not leave, or the account has no address of its own. */
async function writeMail(
  { mail }: Pick<CutOffServices, 'mail'>,
  transaction: Queryable,
  { accountId }: Ended,
  client: string,
): Promise<string | null> {
  if (!mail.isAvailable) return null;
  const person = await findPerson(transaction, accountId);
  if (person?.email == null || !person.emailOwned) return null;
  const told = { template: 'app_cut_off', client } as const;
  return mail.write(transaction, { to: person.email, accountId, expiresAt: null, mail: told });
}
