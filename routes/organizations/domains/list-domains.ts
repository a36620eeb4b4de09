// GET /api/enterprise/organizations/{organization_id}/domains: what the organization claims and has
// proved.
import { withDeadline } from '../../../db/driver/sql.ts';
import { listDomains } from '../../../db/organizations/domains.ts';
import { defineRoute } from '../../define.ts';
import { pageReply, pageSchema } from '../../page.ts';
import { organizationIdOf } from '../access.ts';
import { requireDirector } from './director.ts';
import { domainBody, domainSchema, organizationParams } from './schema.ts';

export const listOrganizationDomains = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/domains',
  operationId: 'listOrganizationDomains',
  summary: 'List the domains of an organization',
  description: 'All of them, the newest claim first: an organization has 20 at most.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  replies: { 200: { description: 'The domains.', schema: pageSchema(domainSchema) } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, caller, services: { sql } }) {
    const organizationId = organizationIdOf(params.organization_id);
    await withDeadline(requireDirector(sql, organizationId, caller, 'domains.read'));
    const domains = await withDeadline(listDomains(sql, organizationId));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(domains.map(domainBody), null) },
    };
  },
});
