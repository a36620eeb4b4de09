// GET /api/me/authorizations: the apps that act for the account, one line an app.
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { authorizedAppSchema, listAuthorizedApps } from './apps.ts';

export const listAuthorizations = defineRoute({
  method: 'GET',
  path: '/api/me/authorizations',
  operationId: 'listAuthorizations',
  summary: 'List the apps that act for you',
  description:
    'One item an app, the one that was approved last first. An app is listed while it has a ' +
    'token that is good, or an active key that was made through it.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  query: pageQuery,
  replies: { 200: { description: 'A page of apps.', schema: pageSchema(authorizedAppSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, caller, services }) {
    const { limit, afterId } = pageRequest(query);
    const { accountId } = caller;
    const { items, nextCursor } = await listAuthorizedApps(services, accountId, limit, afterId);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(items, nextCursor) },
    };
  },
});
