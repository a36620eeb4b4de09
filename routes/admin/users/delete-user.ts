// POST /api/admin/users/{account_id}/delete and /restore: an account is erased in 14 days, unless
// it is restored before.
import { findAccount } from '../../../db/accounts.ts';
import { audited } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { restoreAccount } from '../../../db/erasure.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';
import { deleteAndTell } from '../../me/account/deletion.ts';
import { accountParams, userAnswer, userReply } from './schema.ts';

export const deleteUser = defineRoute({
  method: 'POST',
  path: '/api/admin/users/{account_id}/delete',
  operationId: 'deleteUser',
  summary: 'Delete an account',
  description:
    'Sessions, apps and API keys end at once and stay ended. For 14 days it can be restored. ' +
    'Then everything personal is erased, and ledger, purchases and audit stay under the id. ' +
    'Doing it twice changes nothing. 409 `invalid_state` has the reason `last_administrator`, ' +
    '`organization_owner` or `legal_hold`.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: accountParams,
  replies: userReply,
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { account_id: accountId } = params;
    await deleteAndTell(services, { accountId, actor: caller.accountId });
    const account = await withDeadline(findAccount(services.sql, accountId));
    if (account === null) throw new Problem('not_found', { param: 'account_id' });
    return userAnswer(account);
  },
});

export const restoreUser = defineRoute({
  method: 'POST',
  path: '/api/admin/users/{account_id}/restore',
  operationId: 'restoreUser',
  summary: 'Restore an account that is to be erased',
  description:
    'Its credentials stay ended. 409 `invalid_state` once the erasing has begun. An account that ' +
    'is not to be erased is answered as it is.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: accountParams,
  replies: userReply,
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { account_id: accountId } = params;
    const { sql, system, bus } = services;
    const restoring = audited(sql, async (transaction) => {
      const isRestored = await restoreAccount(transaction, accountId);
      const result = await findAccount(transaction, accountId);
      if (!isRestored) return { result, event: null };
      const event = {
        id: newAuditId(system.node),
        accountId,
        actor: caller.accountId,
        action: 'account.restore',
        subject: `account:${accountId}`,
        details: {},
      };
      return { result, event };
    });
    const account = await withDeadline(restoring);
    if (account === null) throw new Problem('not_found', { param: 'account_id' });
    if (account.status === 'deleting' || account.status === 'erased') {
      throw new Problem('invalid_state', { message: 'The erasing of the account has begun.' });
    }
    await tellChange(bus, [accountId], { isWithdrawn: false });
    return userAnswer(account);
  },
});
