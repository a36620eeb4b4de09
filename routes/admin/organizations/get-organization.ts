// GET /api/admin/organizations/{organization_id}: one organization, whatever its status.
import { defineRoute } from '../../define.ts';
import { organizationIdOf } from '../../organizations/access.ts';
import { organizationParams } from '../../organizations/schema.ts';
import { adminReplies, readAdminAnswer } from './schema.ts';

export const getAdminOrganization = defineRoute({
  method: 'GET',
  path: '/api/admin/organizations/{organization_id}',
  operationId: 'getAdminOrganization',
  summary: 'Read an organization',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: organizationParams,
  replies: adminReplies,
  problems: ['not_found', 'dependency_unavailable'],
  handle: ({ params, services }) =>
    readAdminAnswer(services, organizationIdOf(params.organization_id)),
});
