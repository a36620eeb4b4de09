// GET /api/admin/users/{account_id}/sessions: where an account is signed in.
import * as v from 'valibot';
import { findAccount } from '../../../db/accounts.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listSessions } from '../../../db/sessions.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { listedSessionBody, listedSessionEntries } from '../../identity/view.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { accountParams } from './schema.ts';

const itemSchema = v.strictObject(listedSessionEntries);

export const listUserSessions = defineRoute({
  method: 'GET',
  path: '/api/admin/users/{account_id}/sessions',
  operationId: 'listUserSessions',
  summary: 'List the sessions of an account',
  description: 'Newest first, those that have not expired. `network` is a /24 or /48.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: accountParams,
  query: pageQuery,
  replies: { 200: { description: 'A page of sessions.', schema: pageSchema(itemSchema) } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, query, services }) {
    const { limit, afterId } = pageRequest(query);
    const { account_id: accountId } = params;
    const account = await withDeadline(findAccount(services.sql, accountId));
    if (account === null) throw new Problem('not_found', { param: 'account_id' });
    const found = await withDeadline(listSessions(services.sql, accountId, limit, afterId));
    const items = found.sessions.flatMap((session) => listedSessionBody(session) ?? []);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(items, found.nextCursor) },
    };
  },
});
