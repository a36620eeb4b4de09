// GET /api/enterprise/organizations/{organization_id}/invitations: who was invited.
import { withDeadline } from '../../../db/driver/sql.ts';
import { listInvitations as listRows } from '../../../db/organizations/invitations.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { requireRight } from '../access.ts';
import { organizationParams } from '../schema.ts';
import { invitationBody, invitationSchema } from './schema.ts';

export const listInvitations = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/invitations',
  operationId: 'listOrganizationInvitations',
  summary: 'List invitations',
  description: 'Owners, admins and managers. Newest first, those that have ended too.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  query: pageQuery,
  replies: { 200: { description: 'A page of invitations.', schema: pageSchema(invitationSchema) } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, query, caller, services }) {
    const id = params.organization_id;
    const { organization } = await requireRight(caller, id, 'invitations.read', services);
    const { limit, afterId } = pageRequest(query);
    const filter = { organizationId: organization.id, pendingTo: null };
    const page = await withDeadline(listRows(services.sql, filter, limit, afterId));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(page.invitations.map(invitationBody), page.nextCursor) },
    };
  },
});
