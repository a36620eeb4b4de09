// GET /api/admin/users/{account_id}/authorizations: the apps that act for an account.
import { findAccount } from '../../../db/accounts.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { authorizedAppSchema, listAuthorizedApps } from '../../me/authorizations/apps.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { accountParams } from './schema.ts';

export const listUserAuthorizations = defineRoute({
  method: 'GET',
  path: '/api/admin/users/{account_id}/authorizations',
  operationId: 'listUserAuthorizations',
  summary: 'List the apps that act for an account',
  description: 'As `GET /api/me/authorizations` lists them to the person.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: accountParams,
  query: pageQuery,
  replies: { 200: { description: 'A page of apps.', schema: pageSchema(authorizedAppSchema) } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, query, services }) {
    const { limit, afterId } = pageRequest(query);
    const { account_id: accountId } = params;
    const account = await withDeadline(findAccount(services.sql, accountId));
    if (account === null) throw new Problem('not_found', { param: 'account_id' });
    const { items, nextCursor } = await listAuthorizedApps(services, accountId, limit, afterId);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(items, nextCursor) },
    };
  },
});
