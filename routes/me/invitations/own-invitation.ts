// The invitation that a person answers: it is there only for who has proved its address.
import * as v from 'valibot';
import { findPerson } from '../../../db/accounts/person.ts';
import type { Transaction } from '../../../db/driver/sql.ts';
import { type Queryable, withDeadline } from '../../../db/driver/sql.ts';
import { findInvitation, type Invitation } from '../../../db/organizations/invitations.ts';
import type { Organization } from '../../../db/organizations.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { Problem } from '../../../runtime/problem.ts';
import { type Acted, type ActServices, runAct } from '../../organizations/act.ts';
import { provedAddress } from '../../organizations/admitting.ts';
import { noInvitation } from '../../organizations/invitations/schema.ts';

export const ownInvitationParams = v.strictObject({ invitation_id: lineOfText(100) });

/** @throws Problem not_found */
async function requireOwn(sql: Queryable, id: string, userId: string): Promise<Invitation> {
  const invitation = await findInvitation(sql, null, id);
  const address = provedAddress(await findPerson(sql, userId));
  if (invitation === null || invitation.email !== address) throw noInvitation();
  return invitation;
}

export interface Answering {
  organization: Organization;
  invitation: Invitation;
}

/**
 * Answers a pending invitation, with the organization locked; resolves with what `work` has done.
 * @throws Problem not_found, invalid_state
 */
export async function answerInvitation(
  services: ActServices,
  { id, userId }: { id: string; userId: string },
  work: (transaction: Transaction, answering: Answering) => Promise<Acted<null>>,
): Promise<Invitation> {
  const found = await withDeadline(requireOwn(services.sql, id, userId));
  const done = await runAct(services, found.organizationId, async (transaction, organization) => {
    // Somebody else may have answered, or replaced it, before the organization was locked.
    const invitation = await requireOwn(transaction, id, userId);
    const { status } = invitation;
    if (status !== 'pending') {
      throw new Problem('invalid_state', {
        message: `The invitation is ${status}.`,
        details: { reason: 'invitation_status', status },
      });
    }
    const acted = await work(transaction, { organization, invitation });
    return { ...acted, result: invitation };
  });
  if (done === null) throw noInvitation();
  return done;
}
