// GET /api/enterprise/organizations/{organization_id}/settings: what the organization lets its
// people do.
import { readSettings } from '../../../actors/organization/settings.ts';
import { defineRoute } from '../../define.ts';
import { requireRight } from '../access.ts';
import { organizationParams } from '../schema.ts';
import { settingsAnswer, settingsReply } from './schema.ts';

export const getOrganizationSettings = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/settings',
  operationId: 'getOrganizationSettings',
  summary: 'Read the settings of an organization',
  description: 'All of them as they act, for every member.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  replies: { 200: { description: 'The settings.', schema: settingsReply } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const right = 'settings.read';
    const seat = await requireRight(caller, params.organization_id, right, services);
    const { organization } = seat;
    return settingsAnswer(organization, readSettings(organization.settings), services);
  },
});
