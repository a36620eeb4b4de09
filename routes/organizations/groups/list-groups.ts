// GET /api/enterprise/organizations/{organization_id}/groups: the groups of its members.
import { withDeadline } from '../../../db/driver/sql.ts';
import { listGroups as listRows } from '../../../db/organizations/groups.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { requireRight } from '../access.ts';
import { organizationParams } from '../schema.ts';
import { groupBody, groupSchema } from './schema.ts';

export const listGroups = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/groups',
  operationId: 'listOrganizationGroups',
  summary: 'List the groups of an organization',
  description: 'Newest first. Where the directory is for managers, others see themselves alone.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  query: pageQuery,
  replies: { 200: { description: 'A page of groups.', schema: pageSchema(groupSchema) } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, query, caller, services }) {
    const seat = await requireRight(caller, params.organization_id, 'groups.read', services);
    const { limit, afterId } = pageRequest(query);
    const page = await withDeadline(listRows(services.sql, seat.organization.id, limit, afterId));
    const groups = page.groups.map((group) => groupBody(group, seat));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(groups, page.nextCursor) },
    };
  },
});
