// POST /api/admin/users: a new account with an empty wallet. It has no credential yet: give it a
// key, or let it sign in.
import * as v from 'valibot';
import { createAccount, findAccount } from '../../../db/accounts.ts';
import { audited } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { createWallet } from '../../../db/wallets.ts';
import { newAuditId, newId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { accountLabel, userAnswer, userReply } from './schema.ts';

export const createUser = defineRoute({
  method: 'POST',
  path: '/api/admin/users',
  operationId: 'createUser',
  summary: 'Add an account with an empty wallet',
  description: '`label` says whom it is for, to administrators alone.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { label: 'Acme GmbH' },
    schema: v.strictObject({
      role: v.optional(v.picklist(['user', 'admin']), 'user'),
      label: v.optional(accountLabel, null),
    }),
  },
  replies: { 201: userReply[200] },
  problems: ['dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { role, label } = body;
    const { node } = services.system;
    const actor = caller.accountId;
    const id = newId('acc', node);
    const walletId = newId('wal', node);
    const made = audited(services.sql, async (transaction) => {
      await createAccount(transaction, { id, role, label });
      await createWallet(transaction, { id: walletId, accountId: id, type: 'personal' });
      const event = {
        id: newAuditId(node),
        accountId: id,
        actor,
        action: 'account.create',
        subject: `account:${id}`,
        details: { role, label, wallet_id: walletId },
      };
      return { result: await findAccount(transaction, id), event };
    });
    const account = await withDeadline(made);
    if (account === null) throw new Error('a new account is not there');
    return userAnswer(account, 201);
  },
});
