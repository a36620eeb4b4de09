// GET /api/me/invitations: organizations that wait for the person, under the address it has proved.
import * as v from 'valibot';
import { findPerson } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { type Invitation, listInvitations } from '../../../db/organizations/invitations.ts';
import { defineRoute } from '../../define.ts';
import { provedAddress } from '../../organizations/admitting.ts';
import { roleSchema } from '../../organizations/members/schema.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';

const invitationSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    organization_id: v.pipe(v.number(), v.integer()),
    organization_name: v.string(),
    role: roleSchema,
    created_at: v.string(),
    expires_at: v.string(),
  }),
  v.title('Invitation'),
);

const body = (row: Invitation) => ({
  id: row.id,
  organization_id: row.organizationId,
  organization_name: row.organizationName,
  role: row.role,
  created_at: row.createdAt.toISOString(),
  expires_at: row.expiresAt.toISOString(),
});

export const listMyInvitations = defineRoute({
  method: 'GET',
  path: '/api/me/invitations',
  operationId: 'listMyInvitations',
  summary: 'List the invitations to you',
  description: 'Open ones to the address that your account has proved, newest first.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  query: pageQuery,
  replies: { 200: { description: 'A page of invitations.', schema: pageSchema(invitationSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, caller, services }) {
    const { limit, afterId } = pageRequest(query);
    const { sql } = services;
    const pendingTo = provedAddress(await withDeadline(findPerson(sql, caller.personId)));
    const filter = { organizationId: null, pendingTo };
    const page =
      pendingTo === null
        ? { invitations: [], nextCursor: null }
        : await withDeadline(listInvitations(sql, filter, limit, afterId));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(page.invitations.map(body), page.nextCursor) },
    };
  },
});
