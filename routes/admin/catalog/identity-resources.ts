// OAuth clients and the settings of identity as resources.
import { identitySchema, oauthClientSchema } from '../../../actors/catalog/document.ts';
import { secrets } from './members.ts';
import { type Resource, resource } from './resource.ts';

export const clients: Resource = {
  ...resource(
    'oauth_clients',
    'OAuthClient',
    oauthClientSchema.entries,
    secrets,
    'An OAuth client is an app that people may let act for them; its name is the client id. ' +
      '`redirect_uris` are `https`, `http` at `127.0.0.1`, `[::1]` or `localhost` (with every ' +
      'port), or have a scheme of their own; they are compared as text. `scopes` are the most ' +
      'that it gets. `has_secret` says whether it has one: `POST …/{name}/secret` makes it, and ' +
      'a client that becomes public loses it. Deleting a client ends its authorizations and the ' +
      'keys that were made through them.',
  ),
  noun: 'an OAuth client',
  plural: 'OAuth clients',
  path: '/api/admin/oauth-clients',
  switching:
    'A disabled client begins nothing, and its tokens are good for nothing until it is enabled ' +
    'again; its voice sessions end.',
};

/** One record with routes of its own. */
export const identityResource: Resource = {
  ...resource(
    'identity',
    'Identity',
    identitySchema.entries,
    {},
    '`signup`: whether everybody may make an account (`open`), nobody (`closed`), or addresses ' +
      'that an administrator made accounts for, and open invitations (`invited`). ' +
      '`email_domains`: those that may sign up; empty: all. `terms_url` with `terms_version`: ' +
      'what a new account accepts. `client_documents`: whether an app may be known by a client ' +
      'id metadata document: `off`, `listed` (of `client_document_hosts`), `any`.',
  ),
  noun: 'the settings of identity',
};
