// GET /api/admin/users/{account_id}: one account.
import { findAccount } from '../../../db/accounts.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { accountParams, userAnswer, userReply } from './schema.ts';

export const getUser = defineRoute({
  method: 'GET',
  path: '/api/admin/users/{account_id}',
  operationId: 'getUser',
  summary: 'Read an account',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: accountParams,
  replies: userReply,
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, services }) {
    const account = await withDeadline(findAccount(services.sql, params.account_id));
    if (account === null) throw new Problem('not_found', { param: 'account_id' });
    return userAnswer(account);
  },
});
