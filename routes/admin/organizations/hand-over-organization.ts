// POST /api/admin/organizations/{organization_id}/owner: an operator appoints another canonical
// owner. All who lead the organization are told.
import * as v from 'valibot';
import { listLeaders } from '../../../db/organizations/members.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { noOrganization, organizationIdOf } from '../../organizations/access.ts';
import { requireRevision, runAct } from '../../organizations/act.ts';
import { expectedEntries, organizationParams } from '../../organizations/schema.ts';
import { handOver } from '../../organizations/standing.ts';
import { adminReplies, readAdminAnswer, reasonSchema } from './schema.ts';

const leading = ['owner', 'admin'] as const;

export const adminHandOverOrganization = defineRoute({
  method: 'POST',
  path: '/api/admin/organizations/{organization_id}/owner',
  operationId: 'adminHandOverOrganization',
  summary: 'Appoint another canonical owner',
  description:
    '`user_id` is an active owner or admin of the organization. All owners and admins get a ' +
    'mail. The reason stands in the audit of the organization.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { user_id: 'acc_019ab2c3d4e5f60718293a4b', reason: 'The former owner has left.' },
    schema: v.strictObject({
      user_id: lineOfText(100),
      reason: reasonSchema,
      ...expectedEntries,
    }),
  },
  replies: adminReplies,
  problems: [
    ...(['invalid_request', 'not_found', 'conflict', 'invalid_state'] as const),
    'dependency_unavailable',
  ],
  async handle({ params, body, caller, services }) {
    const id = organizationIdOf(params.organization_id);
    const doing = {
      actor: { type: 'operator', id: caller.accountId } as const,
      reason: body.reason,
    };
    const done = await runAct(services, id, async (transaction, organization) => {
      requireRevision(organization.revision, body.expected_revision);
      const heir = { userId: body.user_id, roles: leading };
      const acted = await handOver(transaction, organization, heir, doing);
      if (acted.records.length === 0) return { ...acted, result: true };
      const { result: member } = acted;
      const newOwner = member.fullName ?? member.email ?? member.userId;
      const mail = { template: 'organization_owner', name: organization.name, newOwner } as const;
      const mails: string[] = [];
      for (const { userId: accountId, email: to } of await listLeaders(transaction, id)) {
        const written = { to, accountId, expiresAt: null, mail };
        mails.push(await services.mail.write(transaction, written));
      }
      return { ...acted, result: true, mails };
    });
    if (done === null) throw noOrganization();
    return readAdminAnswer(services, id);
  },
});
