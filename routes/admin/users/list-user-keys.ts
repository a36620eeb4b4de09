// GET /api/admin/users/{account_id}/keys: the API keys of any account; a token is in no list.
import { findAccount } from '../../../db/accounts.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listKeys } from '../../../db/keys.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { apiKeyBody, apiKeySchema } from '../../keys/schema.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { accountParams } from './schema.ts';

export const listUserKeys = defineRoute({
  method: 'GET',
  path: '/api/admin/users/{account_id}/keys',
  operationId: 'listUserKeys',
  summary: 'List the API keys of an account',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: accountParams,
  query: pageQuery,
  replies: { 200: { description: 'A page of keys.', schema: pageSchema(apiKeySchema) } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, query, services }) {
    const { limit, afterId } = pageRequest(query);
    const { sql } = services;
    const [account, page] = await withDeadline(
      Promise.all([
        findAccount(sql, params.account_id),
        listKeys(sql, params.account_id, limit, afterId),
      ]),
    );
    if (account === null) throw new Problem('not_found', { param: 'account_id' });
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(page.keys.map(apiKeyBody), page.nextCursor) },
    };
  },
});
