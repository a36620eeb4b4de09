// An invitation as the organization sees it, and the mail that tells the person of it.
import * as v from 'valibot';
import { invitationRule } from '../../../actors/organization/limits.ts';
import { untilText } from '../../../actors/personal-data/until.ts';
import { findOwner } from '../../../db/accounts/person.ts';
import type { Transaction } from '../../../db/driver/sql.ts';
import { type Invitation, invitationStatuses } from '../../../db/organizations/invitations.ts';
import type { Organization } from '../../../db/organizations.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';
import { roleSchema } from '../members/schema.ts';

export const invitationParams = v.strictObject({
  organization_id: lineOfText(20),
  invitation_id: lineOfText(100),
});

export const invitationSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    email: v.string(),
    role: roleSchema,
    group_ids: v.array(v.string()),
    monthly_spend_limit_micros: v.nullable(v.pipe(v.number(), v.integer())),
    status: v.picklist(invitationStatuses),
    invited_by: v.string(),
    created_at: v.string(),
    expires_at: v.string(),
  }),
  v.title('OrganizationInvitation'),
);

export const invitationReply = v.strictObject({
  ok: v.literal(true),
  invitation: invitationSchema,
});

export function invitationBody(row: Invitation) {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    group_ids: row.groupIds,
    monthly_spend_limit_micros: row.capMicros === null ? null : Number(row.capMicros),
    status: row.status,
    invited_by: row.invitedBy,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  };
}

export const noInvitation = () => new Problem('not_found', { param: 'invitation_id' });

/** Counts a mail of the organization. @throws Problem rate_limited */
export function countInvitation({ access }: Pick<Services, 'access'>, { id }: Organization): void {
  const refusal = access.failures.take(invitationRule, `${id}`, Date.now());
  if (refusal === null) return;
  throw new Problem('rate_limited', {
    message: `An organization sends at most ${invitationRule.limit} invitations an hour.`,
    headers: { 'retry-after': `${refusal.retryAfterSeconds}` },
  });
}

/** Writes the mail; it is the same for who has an account and who has none. */
export async function writeInvitation(
  { mail, config }: Pick<Services, 'mail' | 'config'>,
  transaction: Transaction,
  { email, expiresAt }: Pick<Invitation, 'email' | 'expiresAt'>,
  { name, inviter }: { name: string; inviter: string },
): Promise<string> {
  const owner = await findOwner(transaction, email);
  const link = new URL('/account/invitations', config.webUrl).href;
  const told = { template: 'invitation', name, inviter, untilText: untilText(expiresAt), link };
  return mail.write(transaction, {
    to: email,
    accountId: owner?.id ?? null,
    expiresAt,
    mail: { ...told, template: 'invitation' },
  });
}
