// GET /api/enterprise/organizations/{organization_id}/members: who is in it, by the rule of the
// directory.
import * as v from 'valibot';
import { readSettings } from '../../../actors/organization/settings.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listMembers as listRows, memberStatuses } from '../../../db/organizations/members.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { requireRight } from '../access.ts';
import { organizationParams } from '../schema.ts';
import { memberBody, memberSchema, seesOthers } from './schema.ts';

export const listMembers = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/members',
  operationId: 'listOrganizationMembers',
  summary: 'List the members of an organization',
  description:
    'Active ones unless `status` says otherwise. Where the directory is for managers, others see ' +
    'themselves alone.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  query: v.object({ ...pageQuery.entries, status: v.optional(v.picklist(memberStatuses)) }),
  replies: { 200: { description: 'A page of members.', schema: pageSchema(memberSchema) } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, query, caller, services }) {
    const id = params.organization_id;
    const seat = await requireRight(caller, id, 'members.read', services);
    const { limit, afterId } = pageRequest(query, /^[ -~]{1,100}$/);
    const { organization } = seat;
    const userId = seesOthers(seat) ? null : seat.userId;
    const filter = { status: query.status ?? 'active', userId };
    const page = await withDeadline(
      listRows(services.sql, organization.id, filter, limit, afterId),
    );
    const settings = readSettings(organization.settings);
    const members = page.members.map((member) => memberBody(member, settings));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(members, page.nextCursor) },
    };
  },
});
