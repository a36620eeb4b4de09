// What new organizations get as a resource: one record with routes of its own.
import { organizationDefaultsSchema } from '../../../actors/catalog/document.ts';
import { type Resource, resource } from './resource.ts';

export const organizationDefaultsResource: Resource = {
  ...resource(
    'organizations',
    'OrganizationDefaults',
    organizationDefaultsSchema.entries,
    {},
    '`creation`: whether everybody may make an organization (`users`), or administrators alone ' +
      '(`admins`). `seat_limit`: how many members and pending invitations a new one may have.',
  ),
  noun: 'the defaults of organizations',
  path: '/api/admin/organizations/defaults',
};
