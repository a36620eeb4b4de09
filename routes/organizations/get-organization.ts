// GET /api/enterprise/organizations/{organization_id}: one organization, for its members.
import { defineRoute } from '../define.ts';
import { organizationAnswer, organizationParams, organizationReply } from './schema.ts';
import { readView } from './view.ts';

export const getOrganization = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}',
  operationId: 'getOrganization',
  summary: 'Read an organization',
  description:
    'To who is no member it is 404. Owners, admins and the billing role are told the balance. A ' +
    'closed one is shown to its canonical owner alone.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  replies: { 200: { description: 'The organization.', schema: organizationReply } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    return organizationAnswer(await readView(caller, params.organization_id, services));
  },
});
